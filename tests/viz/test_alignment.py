"""Lines between two sentences: what they are drawn from, what is said of each word, and how hand-made links show."""

import numpy as np
import pytest

from model.alignment import Reading
from model.trace import LabelError
from viz import alignment, field
from viz.alignment import Aligned
from viz.payload import unpack
from viz.theme import DARK, LIGHT

BY_WEIGHT, BY_NORM = Reading(2, 3, "weight", "predicted"), Reading(1, None, "norm", "read")
SOURCE, TARGET = ("I", "get", "up", "<late>", "."), ("Ich", "stehe", "auf", ".")
STRENGTH = np.array(
    [
        [0.7, 0.1, 0.05, 0.0, 0.0],
        [0.1, 0.2, 0.6, 0.0, 0.0],
        [0.0, 0.3, 0.5, 0.1, 0.05],
        [0.0004, 0.0, 0.0, 0.2, 0.1],
    ]
)
SURE, POSSIBLE = frozenset({(0, 0), (1, 1), (2, 2), (4, 3)}), frozenset({(2, 1)})


def shown(reading: Reading = BY_WEIGHT, *, by_hand: bool = False) -> Aligned:
    strength = STRENGTH * (20 if reading.by == "norm" else 1)
    links = {"sure": SURE, "possible": POSSIBLE} if by_hand else {}
    return Aligned(SOURCE, TARGET, strength, reading, **links)


def test_each_german_word_has_its_strongest_english_word() -> None:
    assert shown().found == [0, 2, 2, 3]
    assert shown().links == {(0, 0), (2, 1), (2, 2), (3, 3)}


def test_strengths_that_do_not_fit_the_words_are_refused() -> None:
    with pytest.raises(LabelError, match=r"shape \(5, 4\), but there are 4 German words and 5 English ones"):
        Aligned(SOURCE, TARGET, STRENGTH.T, BY_WEIGHT)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_canvas_gets_every_strength_and_a_sentence_for_each_word(theme: object) -> None:
    theme = LIGHT if theme is LIGHT else DARK
    header, arrays = unpack(alignment.payload(shown(), theme=theme, pinned=(2, None)))
    np.testing.assert_array_equal(arrays["strength"], STRENGTH.astype(np.float32))
    assert (tuple(header["source"]), tuple(header["target"])) == (SOURCE, TARGET)
    assert header["found"] == [0, 2, 2, 3]
    assert header["pinned"] == [2, None]
    assert header["theme"]["name"] == theme.name
    assert header["ofTarget"] == [alignment.of_target(shown(), t) for t in range(4)]
    assert header["ofSource"] == [alignment.of_source(shown(), s) for s in range(5)]
    assert (header["verdicts"], header["missed"], header["legend"]) == ([None] * 4, [], [])


def test_the_widest_line_is_a_weight_of_one_or_the_largest_length() -> None:
    assert alignment.most(shown()) == 1
    assert alignment.most(shown(BY_NORM)) == pytest.approx(14)
    nothing = Aligned(SOURCE, TARGET, np.zeros_like(STRENGTH), BY_NORM)
    assert 0 < alignment.most(nothing) < 1e-6


def test_what_a_word_holds_to_is_said_in_order_of_strength() -> None:
    assert alignment.of_target(shown(), 2) == "‘auf’ leans on ‘up’ 0.50; then ‘get’ 0.30, ‘<late>’ 0.10, ‘.’ 0.050."
    assert alignment.of_target(shown(), 3).startswith("‘.’ leans on ‘<late>’ 0.20; then ‘.’ 0.10, ‘I’ <0.001, ")
    assert (
        alignment.of_target(shown(BY_NORM), 0)
        == "‘Ich’ leans on ‘I’ 14.00; then ‘get’ 2.000, ‘up’ 1.000, ‘<late>’ 0.000."
    )
    one = Aligned(("I",), ("Ich",), np.array([[0.5]]), BY_WEIGHT)
    assert alignment.of_target(one, 0) == "‘Ich’ leans on ‘I’ 0.50."


def test_what_leans_on_a_word_is_said_and_if_nothing_does_what_comes_nearest() -> None:
    assert alignment.of_source(shown(), 0) == "‘Ich’ (0.70) leans on ‘I’ most."
    assert alignment.of_source(shown(), 2) == "‘stehe’ (0.60) and ‘auf’ (0.50) lean on ‘up’ most."
    assert alignment.of_source(shown(), 1) == ("No German word leans on ‘get’ most; nearest to it is ‘auf’ (0.30).")


def test_links_are_found_possible_not_by_hand_or_missed() -> None:
    pair = shown(by_hand=True)
    assert [pair.verdict(t) for t in range(4)] == ["hit", "possible", "hit", "extra"]
    assert pair.missed == [(1, 1), (4, 3)]
    assert [text.split()[0] for _, text in alignment.legend(pair)] == ["2", "1", "1", "2"]
    assert len({line for line, _ in alignment.legend(pair)}) == 4  # told apart without colour
    header, _ = unpack(alignment.payload(pair, theme=LIGHT, pinned=(None, None)))
    assert header["verdicts"] == ["hit", "possible", "hit", "extra"]
    assert header["missed"] == [[1, 1], [4, 3]]


def test_what_is_linked_by_hand_is_said_with_a_word() -> None:
    pair = shown(by_hand=True)
    assert alignment.of_target(pair, 0).endswith(" By hand: ‘I’.")
    assert alignment.of_target(pair, 1).endswith(" By hand: ‘get’, possibly ‘up’.")
    alone = Aligned(SOURCE, TARGET, STRENGTH, BY_WEIGHT, frozenset({(0, 0)}), frozenset({(1, 2), (2, 2)}))
    assert alignment.of_target(alone, 1).endswith(" By hand: no word.")
    assert alignment.of_target(alone, 2).endswith(" By hand: possibly ‘get’ or ‘up’.")
    assert "By hand" not in alignment.of_target(shown(), 0)


def test_a_reading_is_named_in_words() -> None:
    assert alignment.name(BY_WEIGHT) == "layer 2, head 3, by weight, in the row that predicts the German word"
    assert alignment.name(BY_NORM) == "layer 1, all heads together, by ‖αf(x)‖, in the row that reads the German word"
    assert alignment.name(BY_NORM) in alignment.how_to_read(shown(BY_NORM))
    assert "f(x) = (x Wⱽ + bⱽ) Wᴼ" in alignment.how_to_read(shown(BY_NORM))  # what is named is defined
    assert alignment.STANDS_FOR[BY_NORM.rows] in alignment.how_to_read(shown(BY_NORM))


def test_the_table_has_a_line_for_each_german_word() -> None:
    found = alignment.table(shown())
    assert list(found.columns) == ["German", "leans on", "weight"]
    assert found["German"].tolist() == ["1 Ich", "2 stehe", "3 auf", "4 ."]
    assert found["leans on"].tolist() == ["1 I", "3 up", "3 up", "4 <late>"]
    assert found["weight"].tolist() == STRENGTH.max(axis=1).tolist()
    by_hand = alignment.table(shown(BY_NORM, by_hand=True))
    assert by_hand["link"].tolist() == ["hit", "possible", "hit", "extra"]
    assert by_hand["by hand"].tolist() == ["‘I’", "‘get’, possibly ‘up’", "‘up’", "‘.’"]


def with_cells(one: alignment.Aligned) -> tuple[alignment.Aligned, alignment.Cells]:
    return one, alignment.Cells.of_words(one)


def test_the_matrix_has_german_rows_and_english_columns_and_says_what_is_linked_by_hand() -> None:
    header, arrays = unpack(alignment.matrix(*with_cells(shown(by_hand=True)), theme=LIGHT, pinned=(None, None)))
    np.testing.assert_array_equal(arrays["values"], STRENGTH.astype(np.float32))
    assert (tuple(header["rows"]), tuple(header["columns"])) == (TARGET, SOURCE)
    assert (header["hue"], header["limit"], header["pinned"]) == ("cross", 1, None)
    marked = np.array(header["names"]).reshape(4, 5)
    assert {(s, t) for t, s in np.argwhere(marked == " Linked by hand.").tolist()} == SURE
    assert {(s, t) for t, s in np.argwhere(marked == " Possible by hand.").tolist()} == POSSIBLE
    header, arrays = unpack(alignment.matrix(*with_cells(shown(BY_NORM)), theme=LIGHT, pinned=(1, None)))
    assert header["limit"] == field.round_limit(20 * STRENGTH)
    assert header["pinned"] == [1, None]
