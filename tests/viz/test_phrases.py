"""Numbers and names as people read them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.trace import KINDS
from viz import phrases

FIXED = settings(max_examples=300, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0.00"),
        (1e-30, "<0.001"),
        (0.0004999, "<0.001"),
        (0.0005, "0.001"),
        (0.017, "0.017"),
        (0.0994, "0.099"),
        (0.0995, "0.10"),
        (0.1, "0.10"),
        (0.62499, "0.62"),
        (0.9949, "0.99"),
        (0.9951, "1.00"),
        (1.0, "1.00"),
    ],
)
def test_a_weight_has_two_digits_or_three_where_it_is_small(value: float, said: str) -> None:
    assert phrases.weight(value) == said


@FIXED
@given(st.floats(0, 1))
def test_a_weight_is_off_by_no_more_than_half_its_last_digit(value: float) -> None:
    said = phrases.weight(value)
    if said == "<0.001":
        assert 0 < value < 0.001
    else:
        assert abs(float(said) - value) <= 0.5 * 10 ** -len(said.partition(".")[2]) + 1e-12


@FIXED
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_weight_is_never_said_to_be_smaller(one: float, other: float) -> None:
    said = [float(phrases.weight(value).replace("<0.001", "0.0001")) for value in sorted((one, other))]
    assert said == sorted(said)


@pytest.mark.parametrize(
    ("value", "said"), [(0.125, "0.13"), (0.375, "0.38"), (0.625, "0.63"), (0.0625, "0.063"), (0.03125, "0.031")]
)
def test_a_weight_half_way_between_two_is_rounded_up_as_at_school(value: float, said: str) -> None:
    """Uniform rows over 8 and 16 tokens are exactly such weights; JavaScript's toFixed rounds them so too."""
    assert phrases.weight(value) == said


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_sentence_and_its_mark(kind: str) -> None:
    assert phrases.kind(kind) == {"encoder": "○ encoder", "masked": "◣ masked", "cross": "⇄ cross"}[kind]
    values = {
        "row": "ROW",
        "column": "COLUMN",
        "predicts": "NEXT",
        "weight": "0.62",
        "layer": 2,
        "head": phrases.head(5),
    }
    said = phrases.SENTENCES[kind].format(**values)
    assert said.endswith(f"COLUMN’{' in the source' if kind == 'cross' else ''}: 0.62 ({kind}, layer 2, head 5)")
    assert ("‘NEXT’" in said) == (kind != "encoder")
    assert said.index("ROW") < said.index("COLUMN")


def test_no_head_in_particular_is_the_mean_of_all() -> None:
    assert (phrases.head(5), phrases.head(None)) == ("head 5", "mean of all heads")
