"""Sentence pairs made from templates, in which "it" stands for a noun whose gender German has to heed.

python -m model.templates --out FILE --apart-from dev.tsv test.tsv      pairs for training: `source<TAB>target` lines

The nouns are in nouns.tsv, the frames around them in templates.tsv, where German words that change with the gender are
written in braces, in their masculine form: "Ich sah {einen} {N}. {Er} war {adj}." Nouns and frames of the test set
(`model.pronouns`) are marked in these files, and no training pair is made of them.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model import command, data
from model.command import at_least
from model.data import Pair
from model.whole import replacing

GENDERS = ("m", "f", "n")
FORMS = {  # masculine, feminine, neuter; the masculine form names the row
    forms[0]: dict(zip(GENDERS, forms, strict=True))
    for forms in (
        ("er", "sie", "es"),
        ("ihn", "sie", "es"),
        ("ein", "eine", "ein"),
        ("einen", "eine", "ein"),
        ("einem", "einer", "einem"),
        ("der", "die", "das"),
        ("den", "die", "das"),
        ("dem", "der", "dem"),
        ("mein", "meine", "mein"),
        ("meinen", "meine", "mein"),
        ("seinen", "seine", "sein"),
        ("dieser", "diese", "dieses"),
        ("diesen", "diese", "dieses"),
        ("alten", "alte", "altes"),
    )
}
ANY = {"all", "any"}


@dataclass(frozen=True)
class Noun:
    """A thing that English calls "it"."""

    english: str
    german: str  # the same in nominative, dative and accusative
    gender: str  # m, f or n
    kind: str  # food, animal …: which templates it fits


@dataclass(frozen=True)
class Frame:
    """Sentences, or a part of one, with room for a noun and an adjective."""

    time: str  # an opening and an ending must agree in it
    kinds: frozenset[str]  # of nouns that fit
    english: str
    german: str

    def fits(self, noun: Noun) -> bool:
        return not ANY.isdisjoint(self.kinds) or noun.kind in self.kinds

    def __add__(self, ending: "Frame") -> "Frame":
        if ANY.isdisjoint(ending.kinds):
            kinds = ending.kinds if not ANY.isdisjoint(self.kinds) else self.kinds & ending.kinds
        else:
            kinds = self.kinds
        return Frame(self.time, kinds, self.english + ending.english, self.german + ending.german)


def fill(frame: Frame, noun: Noun, adjective: Pair, *, pronoun: str | None = None) -> Pair:
    """The frame about this noun; `pronoun`, a gender, makes the pronoun (Er, er, ihn) that of another noun."""
    article = "an" if noun.english[0] in "aeiou" else "a"  # by letter, which is right for every noun in the list
    english = frame.english.format(a=f"{article} {noun.english}", noun=noun.english, adj=adjective.source)

    def inflected(match: re.Match[str]) -> str:
        word = match[1]
        if word in ("N", "adj"):
            return noun.german if word == "N" else adjective.target
        about = pronoun if pronoun and word.lower() in ("er", "ihn") else noun.gender
        form = FORMS[word.lower()][about]
        return form.capitalize() if word[0].isupper() else form

    return Pair(english, re.sub(r"\{(\w+)\}", inflected, frame.german))


def nouns(use: str) -> list[Noun]:
    """The nouns for "train" or "test"."""
    return [Noun(english, german, gender, kind) for u, gender, kind, english, german in _rows("nouns.tsv") if u == use]


def frames(part: str) -> list[Frame]:
    """Templates of this part: opening, ending, whole (opening and ending in one), or test."""
    rows = [row[1:] for row in _rows("templates.tsv") if row[0] == part]
    return [Frame(time, frozenset(kinds.split(",")), english, german) for time, kinds, english, german in rows]


def adjectives(kind: str) -> list[Pair]:
    """What can be said of nouns of this kind."""
    rows = [row for row in _rows("templates.tsv") if row[0] == "adjective"]
    return [Pair(english, german) for _, _, kinds, english, german in rows if kinds in (*ANY, kind)]


def training_pairs(number: int, *, seed: int = 1) -> list[Pair]:
    """`number` different pairs, a third for each gender, of the nouns and frames for training. The same for a seed."""
    rng = random.Random(f"templates {seed}")
    by_gender = {gender: [noun for noun in nouns("train") if noun.gender == gender] for gender in GENDERS}
    made: dict[Pair, None] = {}
    while len(made) < number:
        made[_training_pair(rng, by_gender[GENDERS[len(made) % len(GENDERS)]])] = None
    return list(made)


def _training_pair(rng: random.Random, among: Sequence[Noun]) -> Pair:
    noun = rng.choice(among)
    if rng.random() < WHOLE:
        frame = rng.choice([frame for frame in frames("whole") if frame.fits(noun)])
    else:
        opening = rng.choice([frame for frame in frames("opening") if frame.fits(noun)])
        endings = [frame for frame in frames("ending") if frame.fits(noun) and frame.time == opening.time]
        frame = opening + rng.choice(endings)
    return fill(frame, noun, rng.choice(adjectives(noun.kind)))


WHOLE = 0.25  # of the pairs are from frames in one piece


def plain(sentence: str) -> str:
    """Letters and digits only, in lower case: how sentences are compared."""
    return "".join(character for character in sentence.casefold() if character.isalnum())


def apart_from(pairs: Iterable[Pair], others: Iterable[Pair]) -> list[Pair]:
    """The pairs of which neither side is a side of the others."""
    taken = {plain(side) for other in others for side in (other.source, other.target)}
    return [pair for pair in pairs if plain(pair.source) not in taken and plain(pair.target) not in taken]


@cache
def _rows(name: str) -> tuple[tuple[str, ...], ...]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines[1:])  # below the names of the columns


def templates(options: argparse.Namespace) -> None:
    made = training_pairs(options.number, seed=options.seed)
    others = [pair for path in options.apart_from for pair in data.read_pairs(path)]
    kept = apart_from(made, others)
    with replacing(options.out) as path:
        path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in kept), encoding="utf-8")
    print(f"{options.out}: {len(kept)} pairs; {len(made) - len(kept)} left out, since a given file has them")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("templates", "Sentence pairs in which a pronoun has to agree with a noun.", weights=False)
    parser.add_argument("--out", type=Path, required=True, help="where the pairs go; its folder must exist")
    parser.add_argument("--number", type=at_least(1, 20_000), default=4500, help="of pairs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--apart-from", nargs="*", type=Path, default=[], help="files of which no sentence may be made")
    return command.run(templates, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
