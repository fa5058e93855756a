"""Edits as text: what is written can be read again, and what cannot be read is said in a sentence."""

import pytest

from model.config import ModelConfig
from model.editlist import LIMIT, inside, parsed, text, toggled, usable, without_effect
from model.edits import (
    Edit,
    EditError,
    LiftMask,
    NoPositions,
    NoResidual,
    NoScaling,
    Only,
    SetCell,
    SetRow,
    Silence,
    SkipSublayer,
    Uniform,
)
from model.trace import Trace

# Heads 5, encoder layers 3, decoder layers 2.
EDITS: dict[str, Edit] = {
    "silence-encoder-3.5": Silence("encoder", 3, 5),
    "mean-masked-2.4": Silence("masked", 2, 4, "mean"),
    "uniform-cross-1.3": Uniform("cross", 1, 3),
    "only-masked-2.1": Only("masked", 2, 1),
    "cell-cross-2.5-4.11-0.25": SetCell("cross", 2, 5, 4, 11, 0.25),
    "cell-encoder-1.2-3.4-1": SetCell("encoder", 1, 2, 3, 4, 1.0),
    "cell-encoder-1.2-3.4-1e-05": SetCell("encoder", 1, 2, 3, 4, 0.00001),
    "row-cross-1.3-4.7": SetRow("cross", 1, 3, 4, 7),
    "row-masked-1.3-4": SetRow("masked", 1, 3, 4),
    "lift_mask": LiftMask(),
    "no_positions-decoder": NoPositions("decoder"),
    "no_scaling-encoder-3": NoScaling("encoder", 3),
    "skip-cross-2": SkipSublayer("cross", 2),
    "skip-encoder_feed_forward-3": SkipSublayer("encoder_feed_forward", 3),
    "no_residual-decoder_feed_forward-1": NoResidual("decoder_feed_forward", 1),
}


@pytest.mark.parametrize(("written", "edit"), EDITS.items(), ids=EDITS)
def test_an_edit_is_written_as_it_is_read(written: str, edit: Edit) -> None:
    assert parsed(written) == (edit,)
    assert str(edit) == written


def test_a_list_keeps_its_order_and_needs_no_escaping_in_an_address_but_of_commas() -> None:
    edits = tuple(EDITS.values())
    assert parsed(text(edits)) == edits
    assert parsed(" silence-encoder-3.5 ,lift_mask,") == (EDITS["silence-encoder-3.5"], LiftMask())
    assert parsed("") == ()
    assert all(character.isalnum() or character in "-._," for character in text(edits))


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 1e-17, 0.0, 0.9999999999999999])
def test_a_weight_is_read_to_the_last_bit(weight: float) -> None:
    edit = SetCell("encoder", 1, 2, 3, 4, weight)
    assert parsed(str(edit)) == (edit,)


def test_each_edit_says_what_it_does_in_words_of_its_own() -> None:
    said = [edit.said for edit in EDITS.values()]
    assert len(set(said)) == len(said)
    assert "encoder 3.5 silenced" in said
    assert "cross 2.5, row 4: column 11 set to 0.25" in said


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("silence", "'silence' cannot be read; it should look like silence-encoder-2.5"),
        ("silence-encoder-2", "should look like silence-encoder-2.5"),
        ("silence-encoder-2.5.7", "should look like"),
        ("silence-encoder-0.5", "should look like"),
        ("silence-encoder-2.٣", "should look like"),
        ("silence-side-2.5", "kind 'side' is not known; choose encoder, masked or cross"),
        ("skip-feed_forward-2", "sub-layer 'feed_forward' is not known"),
        ("no_positions-middle", "side 'middle' is not known; choose encoder or decoder"),
        ("cell-encoder-2.5-4.7-1.5", "weight 1.5 is no weight; it is a number from 0 to 1"),
        ("cell-encoder-2.5-4.7-0.1.2", "should look like cell-encoder-2.5-4.7-0.25"),
        ("cell-encoder-2.5-4.7-nan", "should look like"),
        ("lift_mask-1", "should look like lift_mask"),
        ("remove-encoder-2.5", "there is no edit 'remove'; choose silence, mean,"),
        ("<script>", "there is no edit '<script>'"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(written: str, expected: str) -> None:
    with pytest.raises(EditError) as error:
        parsed(f"lift_mask,{written}")
    assert expected in str(error.value)


def test_there_is_a_most() -> None:
    many = [str(Silence("encoder", 1, head)) for head in range(1, LIMIT + 2)]
    assert len(parsed(",".join(many[:LIMIT]))) == LIMIT
    with pytest.raises(EditError, match=f"these are {LIMIT + 1} edits; at most {LIMIT} are carried out at once"):
        parsed(",".join(many))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Silence("encoder", 0, 1),
        lambda: Uniform("encoder", 1, 0),
        lambda: SetCell("encoder", 1, 1, 0, 1, 0.5),
        lambda: SetCell("encoder", 1, 1, 1, 1, float("nan")),
        lambda: SetRow("encoder", 1, 1, 1, 0),
        lambda: Silence("encoder", 1, 1, "median"),
        lambda: NoScaling("encoder", 0),
    ],
)
def test_a_value_that_means_nothing_cannot_be_made(wrong: object) -> None:
    with pytest.raises(EditError):
        wrong()  # type: ignore[operator]


def test_what_a_model_has_no_place_for_is_left_out_and_said(tiny: ModelConfig) -> None:
    fine = tuple(EDITS.values())
    assert usable(fine, tiny) == (fine, [])
    edits = parsed(
        "silence-encoder-4.1,uniform-masked-3.1,only-cross-2.6,skip-encoder_feed_forward-4,no_scaling-cross-3"
    )
    assert usable((*edits, *fine), tiny) == (
        fine,
        [
            "silence-encoder-4.1 has no place in this model: its encoder has layers 1 to 3",
            "uniform-masked-3.1 has no place in this model: its decoder has layers 1 to 2",
            "only-cross-2.6 has no place in this model: each layer has heads 1 to 5",
            "skip-encoder_feed_forward-4 has no place in this model: its encoder has layers 1 to 3",
            "no_scaling-cross-3 has no place in this model: its decoder has layers 1 to 2",
        ],
    )


@pytest.mark.parametrize("written", ["cell-masked-1.2-3.4-0.5", "row-masked-1.2-3.4", "cell-masked-1.2-1.1-0.5"])
def test_a_cell_that_the_mask_rules_out_cannot_be_set_unless_the_mask_is_lifted(
    tiny: ModelConfig, written: str
) -> None:
    kept, said = usable(parsed(written), tiny)
    assert (kept, len(said)) == ((), 1)
    assert said[0].startswith(f"{written} cannot be done: ")
    assert usable(parsed(f"{written},lift_mask"), tiny) == (parsed(f"{written},lift_mask"), [])
    for possible in (
        "cell-masked-1.2-4.3-0.5",
        "cell-masked-1.2-1.1-1",
        "row-masked-1.2-3.3",
        "cell-cross-1.2-3.4-0.5",
    ):
        assert usable(parsed(possible), tiny) == (parsed(possible), [])


@pytest.mark.parametrize(
    ("there", "added", "expected"),
    [
        ("lift_mask", "silence-encoder-1.2", "lift_mask,silence-encoder-1.2"),
        ("lift_mask,silence-encoder-1.2", "lift_mask", "silence-encoder-1.2"),
        ("silence-encoder-1.2,silence-encoder-1.3", "mean-encoder-1.2", "silence-encoder-1.3,mean-encoder-1.2"),
        ("only-encoder-1.2,only-encoder-2.2", "only-encoder-1.3", "only-encoder-2.2,only-encoder-1.3"),
        ("silence-encoder-1.2", "only-encoder-1.2", "silence-encoder-1.2,only-encoder-1.2"),
        ("silence-encoder-1.2", "silence-masked-1.2", "silence-encoder-1.2,silence-masked-1.2"),
        ("cell-cross-1.2-3.4-0.5", "cell-cross-1.2-3.4-0.7", "cell-cross-1.2-3.4-0.7"),
        ("cell-cross-1.2-3.4-0.5", "cell-cross-1.2-3.5-0.7", "cell-cross-1.2-3.4-0.5,cell-cross-1.2-3.5-0.7"),
        ("cell-cross-1.2-3.4-0.5", "cell-cross-1.2-4.4-0.7", "cell-cross-1.2-3.4-0.5,cell-cross-1.2-4.4-0.7"),
        (
            "cell-cross-1.2-3.4-0.5,cell-cross-1.2-2.4-0.5",
            "row-cross-1.2-3.1",
            "cell-cross-1.2-2.4-0.5,row-cross-1.2-3.1",
        ),
        (
            "cell-cross-1.2-3.4-0.5,cell-cross-1.3-2.4-0.5",
            "uniform-cross-1.2",
            "cell-cross-1.3-2.4-0.5,uniform-cross-1.2",
        ),
        ("uniform-cross-1.2", "cell-cross-1.2-3.4-0.5", "uniform-cross-1.2,cell-cross-1.2-3.4-0.5"),
        ("row-cross-1.2-3", "cell-cross-1.2-3.4-0.5", "row-cross-1.2-3,cell-cross-1.2-3.4-0.5"),
    ],
)
def test_an_edit_is_undone_by_repeating_it_and_takes_the_place_of_what_it_makes_void(
    there: str, added: str, expected: str
) -> None:
    assert text(toggled(parsed(there), *parsed(added))) == expected


def test_there_is_no_room_for_more_edits_than_the_limit() -> None:
    full = tuple(Silence("encoder", 1, head) for head in range(1, LIMIT + 1))
    with pytest.raises(EditError, match="undo one first"):
        toggled(full, LiftMask())
    assert len(toggled(full, full[3])) == LIMIT - 1
    assert len(toggled(full, Silence("encoder", 1, 4, "mean"))) == LIMIT


def test_edits_of_rows_and_columns_that_are_not_there_are_said(trace: Trace) -> None:
    T, S = len(trace.read), len(trace.source)
    there = f"cell-cross-1.2-{T}.{S}-0.5,row-masked-1.2-{T}.1,row-encoder-1.2-{S},silence-encoder-3.5"
    assert without_effect(parsed(there), trace) == []
    beyond = [f"cell-cross-1.2-{T + 1}.1-0.5", f"cell-cross-1.2-1.{S + 1}-0.5", f"row-encoder-1.2-{S + 1}"]
    said = without_effect(parsed(",".join(beyond)), trace)
    assert [sentence.partition(" changes nothing: ")[0] for sentence in said] == beyond
    assert said[0].endswith(f"here cross attention has rows 1 to {T} and columns 1 to {S}")


def test_what_acts_inside_a_head_is_what_its_arithmetic_leaves_out() -> None:
    acting = [
        "silence-cross-1.2",
        "uniform-cross-1.2",
        "cell-cross-1.2-3.4-0.5",
        "only-cross-1.3",
        "no_scaling-cross-1",
    ]
    others = ["silence-cross-1.3", "silence-cross-2.2", "silence-masked-1.2", "only-cross-1.2", "only-cross-2.3"]
    others += ["no_scaling-cross-2", "lift_mask", "skip-cross-1", "no_positions-encoder"]
    assert inside(parsed(",".join(acting + others)), "cross", 1, 2) == list(parsed(",".join(acting)))
