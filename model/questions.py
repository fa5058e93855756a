"""The test set of pronouns: "I saw a sled. It was big." with Er, Sie and Es, and what can be hidden from the model.

shown                   nothing is hidden
article                 no later row may look at the article. The German noun is still there, and so is the English one:
                        a model that knows the noun's gender still answers
article_noun            nor at the German noun. What is left is cross-attention to the English noun (and to "It", which
                        may have looked at the noun in the encoder), so it must know what gender its translation has
sentence                the row that predicts the pronoun, and those after it, see nothing of the first German sentence
                        but <s>: cross-attention alone
source                  the English noun is hidden from everybody: masked attention to German words alone
source_article          of these, the noun alone
source_article_noun     nothing that could tell is left. Anything above a third is chance, or a leak
"""

from dataclasses import dataclass, replace

from model.data import Pair
from model.gold import encode_spans
from model.hiding import Hidden
from model.templates import FORMS, GENDERS, Frame, Noun, adjectives, fill, frames, nouns
from model.tokenizer import Tokenizer


@dataclass(frozen=True)
class Question:
    """One English sentence pair about a noun, with a German one for each gender of the pronoun."""

    noun: Noun
    frame: Frame
    adjective: Pair

    def answers(self, *, article: str | None = None) -> list[Pair]:
        """In the order of GENDERS. `article`, a gender, puts the article of another noun before this one."""
        noun = replace(self.noun, gender=article or self.noun.gender)
        return [fill(self.frame, noun, self.adjective, pronoun=gender) for gender in GENDERS]


def questions() -> list[Question]:
    """Each noun of the test set in each of its frames, with the adjectives in turn."""
    asked = adjectives("test")
    return [
        Question(noun, frame, asked[(i + j) % len(asked)])
        for i, noun in enumerate(nouns("test"))
        for j, frame in enumerate(frames("test"))
    ]


def conditions(tokenizer: Tokenizer, question: Question) -> dict[str, Hidden]:
    """What is hidden under each condition."""
    answer, noun = question.answers()[0], question.noun
    german, english = tokenizer.normalise(answer.target), tokenizer.normalise(answer.source)
    article = FORMS["einen"][noun.gender]
    begin = german.index(f" {article} {noun.german}") + 1
    middle, end = begin + len(article), begin + len(article) + 1 + len(noun.german)
    spans = [(begin, middle), (begin, end), (0, german.index(". ") + 1)]
    pieces = encode_spans(tokenizer, german, spans)[1]
    at, both, sentence = (range(some[0] + 1, some[-1] + 2) for some in pieces)  # columns: <s> is the first
    begin = english.index(f" {noun.english}.") + 1
    (some,) = encode_spans(tokenizer, english, [(begin, begin + len(noun.english))])[1]
    source = range(some[0], some[-1] + 1)
    return {
        "shown": Hidden(),
        "article": Hidden(target=at),
        "article_noun": Hidden(target=both),
        "sentence": Hidden(target=range(sentence.start, sentence.stop - 1)),  # its last piece is the row that predicts
        "source": Hidden(source=source),
        "source_article": Hidden(at, source),
        "source_article_noun": Hidden(both, source),
    }
