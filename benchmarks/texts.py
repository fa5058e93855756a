"""Sentences to measure with, written for this purpose."""

import itertools
from collections.abc import Iterator

from model.tokenizer import Tokenizer

ENGLISH = "the man and the woman see a big house in the city"  # common words, one piece each
GERMAN = "der Mann und die Frau sehen ein Haus in der Stadt"
WHO = "the old man,my sister,a young doctor,the teacher,our neighbour,the boy,a tall woman,his brother".split(",")
WHAT = "reads a book,buys some bread,writes a letter,opens the window,finds a key,sells the car,waits".split(",")
WHERE = "in the garden,at the station,near the river,after dinner,before the rain,every Sunday,in Berlin".split(",")
WHY = "because it is late,although it is cold,while the children sleep,since nobody is there,if he has time".split(",")


def pieces(tokenizer: Tokenizer, text: str, count: int) -> list[int]:
    """Exactly this many ids: the text, over and over."""
    return list(itertools.islice(itertools.cycle(tokenizer.encode(text)), count))


def words(text: str, count: int) -> str:
    """This many words: the text, over and over."""
    return " ".join(itertools.islice(itertools.cycle(text.split()), count))


def sentences() -> Iterator[str]:
    """Nearly two thousand different sentences, neighbours unlike each other, of 9 to 13 words."""
    every = [" ".join(parts) for parts in itertools.product(WHO, WHAT, WHERE, WHY)]
    step = 1109  # prime to their number, so that each comes once
    for index in range(len(every)):
        sentence = every[index * step % len(every)]
        yield f"{sentence[0].upper()}{sentence[1:]}."
