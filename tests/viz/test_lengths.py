"""What was measured past the training length: lines hold the report's numbers, and so do the sentences."""

from dataclasses import replace

import numpy as np
import pytest

from model.length_report import HeadHabit, Length, LengthReport, Start
from viz import lengths
from viz.payload import unpack
from viz.theme import LIGHT


def heads(scale: float) -> tuple[HeadHabit, ...]:
    own = [HeadHabit("encoder", 1, n, 0.1 * n * scale, 0.05, 0.02 * n, entropy=0.1 * n) for n in range(1, 7)]
    masked = HeadHabit("masked", 2, 1, 0.9 * scale, 0.0, None, entropy=0.2)
    return (*own, masked, HeadHabit("cross", 1, 1, None, None, None, entropy=0.7))


def report() -> LengthReport:
    first = Length(1, 40, 9.5, 7.2, 25.0, 25.0, 0.97, heads(1.0))
    long = replace(first, joined=8, n=5, pieces=76.0, words=57.0, bleu=11.5, apart=24.5, ratio=0.61, heads=heads(0.1))
    middle = replace(first, joined=4, n=10, pieces=38.0, words=28.8, bleu=22.0, apart=24.8, ratio=0.9)
    return LengthReport("0", "pairs.tsv", 40, 30, (first, middle, long), (Start(1, 25.0), Start(41, 7.5)))


def test_bleu_stands_over_the_pieces_of_the_source() -> None:
    joined, apart = lengths.bleu(report())
    np.testing.assert_array_equal(joined.x, [9.5, 38.0, 76.0])
    np.testing.assert_array_equal(joined.y, [25.0, 22.0, 11.5])
    np.testing.assert_array_equal(apart.y, [25.0, 24.8, 24.5])


def test_the_end_of_training_is_marked_if_it_is_within_the_picture() -> None:
    made = report()
    lines = lengths.bleu(made)
    notes = unpack(lengths.picture(lines, made, theme=LIGHT, y_title="BLEU", most=None))[0]["notes"]
    assert notes == [[pytest.approx(40.0), "longest in training, about 40 pieces"]]
    beyond = replace(made, trained_words=300)
    assert unpack(lengths.picture(lines, beyond, theme=LIGHT, y_title="BLEU", most=None))[0]["notes"] == []


def test_starts_are_drawn_from_0() -> None:
    header, arrays = unpack(lengths.starts_picture(report(), theme=LIGHT))
    np.testing.assert_array_equal(arrays["x0"], [1, 41])
    np.testing.assert_array_equal(arrays["y0"], [25.0, 7.5])
    assert header["range"] == [0.0, 25.0]


def test_the_heads_that_look_sideways_most_are_followed_through_all_lengths() -> None:
    lines = lengths.sideways(report())
    assert len(lines) == lengths.MOST_HEADS
    assert [line.name for line in lines[:2]] == [
        "◣ masked 2.1, one to the left",
        "○ encoder 1.6, one to the left",
    ]
    np.testing.assert_allclose(lines[0].y, [0.9, 0.9, 0.09])
    assert not [line for line in lines if "cross" in line.name]


def test_the_verdict_follows_the_numbers() -> None:
    made = report()
    assert "This model does not: at 76 pieces 47% of BLEU are left." in lengths.verdict(made)
    for bleu, said in ((20.0, "This model does: "), (15.0, "This model does in part: ")):
        lengths_ = (*made.lengths[:2], replace(made.lengths[2], bleu=bleu))
        assert said in lengths.verdict(replace(made, lengths=lengths_))
    assert "No input" in lengths.verdict(replace(made, trained_words=300))


def test_entropies_are_means_by_kind() -> None:
    encoder, masked, cross = lengths.entropies(report())
    np.testing.assert_allclose(encoder.y, 0.35)
    np.testing.assert_allclose(masked.y, 0.2)
    np.testing.assert_allclose(cross.y, 0.7)


def test_what_is_said_are_the_numbers() -> None:
    said = lengths.said(report())
    for part in (
        "40 sentences of pairs.tsv",
        "From 76 pieces on",
        "11.5 against 24.5",
        "0.61 times",
        "(0.97",
        "of 7 heads",
    ):
        assert part in said
    assert "inside the lengths of training" not in said
    assert "inside the lengths of training" in lengths.said(replace(report(), trained_words=300))
    assert "Nowhere" in lengths.said(replace(report(), lengths=report().lengths[:2]))
    assert lengths.starts_said(report()) == "BLEU 25.0 from position 1, 7.5 from position 41."
