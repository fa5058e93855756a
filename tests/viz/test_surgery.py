"""Heads as cells: every number and every sign stands at its own head; what edits did is said in words."""

import numpy as np
import pytest

from model.config import ModelConfig
from model.editlist import parsed, usable
from model.importance import Head, all_heads
from model.trace import Trace
from viz import surgery
from viz.payload import unpack
from viz.theme import LIGHT


def drawn(trace: Trace, losses: dict[Head, float], edits: str = "", tool: str = "silence") -> tuple[dict, dict]:
    return unpack(
        surgery.heads(
            losses, all_heads(trace), parsed(edits), theme=LIGHT, opened=("masked", 2, 3), tool=tool, what="ln P"
        )
    )


def test_each_loss_stands_at_its_head_and_is_said(trace: Trace) -> None:
    losses = {head: float(index) - 3 for index, head in enumerate(all_heads(trace))}
    header, arrays = drawn(trace, losses)
    assert [(row["kind"], row["layer"]) for row in header["rows"]] == [
        ("encoder", 1), ("encoder", 2), ("encoder", 3), ("masked", 1), ("masked", 2), ("cross", 1), ("cross", 2),
    ]  # fmt: skip
    np.testing.assert_array_equal(arrays["values"], np.arange(35, dtype=np.float32).reshape(7, 5) - 3)
    assert header["opened"] == [4, 2]
    assert header["said"][0] == "○ encoder, layer 1, head 1: with it silenced, ln P rises by 3.000"
    assert header["said"][34] == "⇄ cross, layer 2, head 5: with it silenced, ln P falls by 31.00"
    assert header["limit"] >= 31


def test_without_losses_heads_have_names_only(trace: Trace) -> None:
    header, arrays = drawn(trace, {})
    assert arrays == {}
    assert header["said"][17] == "◣ masked, layer 1, head 3"


def test_each_edited_head_has_its_sign(trace: Trace) -> None:
    header, _ = drawn(
        trace, {}, "silence-encoder-1.2,mean-masked-1.1,uniform-cross-2.5,row-cross-1.3-2,only-encoder-3.4"
    )
    signs = np.array(header["marks"]).reshape(7, 5)
    assert [*signs[0]] == ["", "✕", "", "", ""]
    assert [*signs[2]] == ["✕", "✕", "✕", "◉", "✕"]
    assert [*signs[3]] == ["≈", "", "", "", ""]
    assert [*signs[5]] == ["", "", "✎", "", ""]
    assert [*signs[6]] == ["", "", "", "", "="]
    assert not any(signs[[1, 4]].ravel())


def test_each_edited_attention_is_noted_in_its_row(trace: Trace) -> None:
    header, _ = drawn(
        trace, {}, "no_scaling-cross-1,skip-cross-1,no_residual-encoder-3,lift_mask,skip-encoder_feed_forward-1"
    )
    assert [row["note"] for row in header["rows"]] == [
        "", "", "no residual", "no mask", "no mask", "no √d, left out", "",
    ]  # fmt: skip


@pytest.mark.parametrize("tool", surgery.TOOLS)
def test_the_edit_mode_is_marked_and_says_what_a_click_does(trace: Trace, tool: str) -> None:
    header, _ = drawn(trace, {}, tool=tool)
    assert header["edits"] == (tool != "none") == ("Edit mode" in header["mode"])
    assert surgery.TOOLS[tool] in header["mode"]


def test_every_part_is_offered_once_and_has_a_place(trace: Trace) -> None:
    config = ModelConfig(347, d_model=20, n_heads=5, d_ff=37, encoder_layers=3, decoder_layers=2)
    offered = [edit for edits in surgery.parts(trace).values() for edit in edits]
    assert usable(offered, config) == (tuple(offered), [])
    assert len(set(offered)) == len(offered) == 3 + 7 + 12 + 12


def test_the_table_has_a_line_for_each_head(trace: Trace) -> None:
    losses = {head: float(index) for index, head in enumerate(all_heads(trace))}
    table = surgery.table(losses, all_heads(trace), parsed("silence-masked-1.2"))
    assert len(table) == 35
    line = table.iloc[16]
    assert (line["kind"], line["layer"], line["head"], line["loss of ln P"], line["edit"]) == (
        "masked",
        1,
        2,
        16.0,
        "✕",
    )
