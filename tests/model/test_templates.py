"""Sentences made from templates are correct German, and nothing of the test set is in those for training."""

import re
from pathlib import Path

import pytest

from model.data import Pair, read_pairs
from model.templates import (
    FORMS,
    GENDERS,
    Frame,
    Noun,
    _rows,
    adjectives,
    apart_from,
    fill,
    frames,
    main,
    nouns,
    training_pairs,
)

PARTS = ("opening", "ending", "whole", "test")
SPOON, LAMP, EGG = (
    Noun("spoon", "Löffel", "m", "thing"),
    Noun("lamp", "Lampe", "f", "thing"),
    Noun("egg", "Ei", "n", "food"),
)
BIG = Pair("big", "groß")


def frame(english: str, german: str, *, time: str = "past", kinds: str = "all") -> Frame:
    return Frame(time, frozenset(kinds.split(",")), english, german)


FOUND = frame("I took {a}. It was {adj}.", "Ich nahm {einen} {N}. {Er} war {adj}.")
WHERE = frame("My old {noun} was here. Who has it?", "{Mein} {N} war hier. Wer hat {ihn}?")
WITH = frame("Tom came with {a}, since it is {adj}.", "Tom kam mit {einem} {N}, da {er} {adj} ist.")


@pytest.mark.parametrize(
    ("template", "noun", "english", "german"),
    [
        (FOUND, SPOON, "I took a spoon. It was big.", "Ich nahm einen Löffel. Er war groß."),
        (FOUND, LAMP, "I took a lamp. It was big.", "Ich nahm eine Lampe. Sie war groß."),
        (FOUND, EGG, "I took an egg. It was big.", "Ich nahm ein Ei. Es war groß."),
        (WHERE, SPOON, "My old spoon was here. Who has it?", "Mein Löffel war hier. Wer hat ihn?"),
        (WHERE, LAMP, "My old lamp was here. Who has it?", "Meine Lampe war hier. Wer hat sie?"),
        (WHERE, EGG, "My old egg was here. Who has it?", "Mein Ei war hier. Wer hat es?"),
        (WITH, SPOON, "Tom came with a spoon, since it is big.", "Tom kam mit einem Löffel, da er groß ist."),
        (WITH, LAMP, "Tom came with a lamp, since it is big.", "Tom kam mit einer Lampe, da sie groß ist."),
        (WITH, EGG, "Tom came with an egg, since it is big.", "Tom kam mit einem Ei, da es groß ist."),
    ],
)
def test_articles_and_pronouns_have_the_gender_and_case_that_german_asks_for(
    template: Frame, noun: Noun, english: str, german: str
) -> None:
    assert fill(template, noun, BIG) == Pair(english, german)


def test_the_pronoun_of_another_gender_changes_the_pronoun_only() -> None:
    assert fill(FOUND, SPOON, BIG, pronoun="f").target == "Ich nahm einen Löffel. Sie war groß."
    assert fill(WHERE, LAMP, BIG, pronoun="m").target == "Meine Lampe war hier. Wer hat ihn?"
    assert fill(WITH, LAMP, BIG, pronoun="n").target == "Tom kam mit einer Lampe, da es groß ist."


def test_an_opening_and_an_ending_fit_what_fits_both() -> None:
    whole = frame("I ate {a}", "Ich aß {einen} {N}", kinds="food") + frame(". It was {adj}.", ". {Er} war {adj}.")
    assert fill(whole, EGG, BIG) == Pair("I ate an egg. It was big.", "Ich aß ein Ei. Es war groß.")
    assert whole.fits(EGG)
    assert not whole.fits(LAMP)
    for opening, ending in (
        ("all", "thing"),
        ("thing,food", "animal,thing"),
        ("thing,animal", "food,thing"),
        ("thing", "all"),
    ):
        both = frame("", "", kinds=opening) + frame("", "", kinds=ending)
        assert (both.fits(LAMP), both.fits(EGG)) == (True, False)


def test_every_line_of_the_lists_is_whole() -> None:
    assert {len(row) for row in (*_rows("nouns.tsv"), *_rows("templates.tsv"))} == {5}
    assert all(noun.gender in GENDERS and noun.german[0].isupper() for use in ("train", "test") for noun in nouns(use))
    assert len(_rows("nouns.tsv")) == len(nouns("train")) + len(nouns("test"))
    for part in PARTS:
        for template in frames(part):
            assert set(re.findall(r"\{(\w+)\}", template.english)) <= {"a", "noun", "adj"}
            words = [word for word in re.findall(r"\{(\w+)\}", template.german) if word not in ("N", "adj")]
            assert all(word.lower() in FORMS for word in words)
            assert ("{adj}" in template.english) == ("{adj}" in template.german)


def test_every_kind_of_noun_has_openings_endings_and_something_to_say() -> None:
    for noun in nouns("train"):
        fitting = [template for template in frames("opening") if template.fits(noun)]
        assert fitting
        assert all(any(e.fits(noun) and e.time == o.time for e in frames("ending")) for o in fitting)
        assert len(adjectives(noun.kind)) > 5


def test_no_noun_of_the_test_set_is_one_for_training() -> None:
    for side in ("english", "german"):
        trained = {getattr(noun, side).lower() for noun in nouns("train")}
        tested = [getattr(noun, side).lower() for noun in nouns("test")]
        assert len(tested) == len(set(tested))
        assert trained.isdisjoint(tested)
    pairs = training_pairs(3000)
    words = {word.lower() for pair in pairs for word in re.findall(r"\w+", f"{pair.source} {pair.target}")}
    assert words.isdisjoint(word.lower() for noun in nouns("test") for word in (noun.english, noun.german))


def test_no_sentence_of_a_test_frame_is_one_for_training_whatever_the_noun() -> None:
    """Each sentence by itself: neither "I saw a …" nor "It was …" alone."""
    sentences = {s for pair in training_pairs(3000) for side in (pair.source, pair.target) for s in split(side)}
    for template in frames("test"):
        for side in (template.english, template.german):
            for sentence in split(side):
                with_article = re.escape(sentence).replace(r"\{a\}", r"\w+ [\w-]+")
                pattern = re.sub(r"\\\{\w+\\\}", r"[\\w-]+", with_article)
                assert not [found for found in sentences if re.fullmatch(pattern, found)], sentence


def split(text: str) -> list[str]:
    return re.split(r"(?<=[.!?]) ", text)


def test_training_pairs_are_different_balanced_and_the_same_for_a_seed() -> None:
    pairs = training_pairs(900, seed=4)
    assert len(set(pairs)) == 900
    assert pairs == training_pairs(900, seed=4)
    assert set(pairs) != set(training_pairs(900, seed=5))
    genders = {noun.german: noun.gender for noun in nouns("train")}
    for number, gender in enumerate(GENDERS):
        for pair in pairs[number::3]:
            assert gender in {genders[word] for word in re.findall(r"[\w-]+", pair.target) if word in genders}


def test_pairs_are_kept_apart_from_what_a_file_has_whatever_its_commas_and_capitals() -> None:
    pairs = [Pair("It is big.", "Es ist groß."), Pair("It was old.", "Es war alt."), Pair("It ran.", "Es lief.")]
    others = [Pair("it is – BIG", "Anders."), Pair("Other.", "Es lief!")]
    assert apart_from(pairs, others) == [pairs[1]]
    assert apart_from(pairs, []) == pairs


def test_the_command_writes_pairs_that_training_can_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = training_pairs(30)[7]
    (tmp_path / "dev.tsv").write_text(f"{known.source.upper()}\tAnders.\n", encoding="utf-8")
    arguments = ["--number", "30", "--out", str(tmp_path / "made.tsv"), "--apart-from", str(tmp_path / "dev.tsv")]
    assert main(arguments) == 0
    made = training_pairs(30)
    assert read_pairs(tmp_path / "made.tsv") == [*made[:7], *made[8:]]
    assert "29 pairs; 1 left out" in capsys.readouterr().out
    assert main(["--out", str(tmp_path / "none" / "made.tsv")]) == 2
