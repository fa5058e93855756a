"""Masked and cross-attention side by side over the same rows: the payload of canvas/pair.js."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from model.selection import entropy_bits, share_on_marks
from model.trace import Array, AttentionMap
from viz.payload import described, numbers, pack
from viz.stages import Stage
from viz.theme import Theme, for_canvas

PADDING = 3  # <pad> tokens that a switch adds


@dataclass(frozen=True)
class Pair:
    """The decoder's two attentions and, for the source word that a step leans on, the encoder's."""

    masked: AttentionMap
    cross: AttentionMap
    encoder: AttentionMap  # rows: every source token, also those whose columns are hidden
    masked_stage: Stage
    cross_stage: Stage
    probabilities: Array  # (rows,) of what each row predicts
    leans: Array  # (rows,) the row of `encoder` for the column that cross-attention weighs most

    def __post_init__(self) -> None:
        if self.masked.rows != self.cross.rows or self.masked.predicts != self.cross.predicts:
            raise ValueError("masked and cross-attention must share their rows to be drawn side by side")


def leaning(cross: AttentionMap, encoder: AttentionMap) -> Array:
    """(rows,) uint16: the encoder's row of the column that each row weighs most."""
    hidden = len(encoder.rows) - len(cross.columns)
    kept = [index for index, token in enumerate(encoder.rows) if not (hidden and token.special)]
    return np.array(kept, dtype=np.uint16)[cross.weights.argmax(axis=1)]


def payload(
    pair: Pair,
    *,
    theme: Theme,
    step: int,
    linear: bool,
    pinned: tuple[AttentionMap, int, int] | None,
    lifted: bool,
    door: bool,
    shape: tuple[int, int, int],
) -> bytes:
    """step counts from 1; pinned: the side, row and column (from 0); door: whether a pinned cell leads to its
    arithmetic. shape: T and S in pieces, whatever is drawn, and K, the numbers in a query or key.
    """
    header: dict[str, Any] = {"theme": for_canvas(theme), "step": step, "linear": linear, "door": door}
    hidden = len(pair.cross.columns) < len(pair.encoder.rows)
    header["marks"] = "punctuation" if hidden else "<s>, </s> and punctuation"
    header["pinned"] = pinned and {"kind": pinned[0].kind, "row": pinned[1], "column": pinned[2]}
    arrays = {"probabilities": pair.probabilities.astype(np.float32), "leans": pair.leans}
    for shown in (pair.masked, pair.cross, pair.encoder):
        header[shown.kind] = described(shown)
        arrays |= numbers(f"{shown.kind}_", shown)
        arrays[f"{shown.kind}_entropy"] = entropy_bits(shown).astype(np.float32)
        arrays[f"{shown.kind}_marks"] = share_on_marks(shown).astype(np.float32)
    for name, stage in (("masked", pair.masked_stage), ("cross", pair.cross_stage)):
        header[name]["stage"] = {"name": stage.name, "signed": stage.signed, "most": stage.most}
        if stage.sentence:
            header[name]["sentence"] = stage.sentence
        arrays[f"{name}_shown"] = stage.values.astype(np.float32)
        arrays[f"{name}_open"] = stage.allowed.astype(np.uint8)
    T, S, K = shape
    header["masked"]["title"] = f"masked: Q, K, V from the decoder, {T} × {K} each"
    header["cross"]["title"] = f"cross: Q from the decoder, {T} × {K}; K, V from the encoder, {S} × {K}"
    header["next"] = answers(pair.masked) if lifted else []
    return pack(header, arrays)


def answers(masked: AttentionMap) -> list[int]:
    """For each row, the column (from 0) that holds the very token the row must predict; -1 if none does."""
    hidden = len(masked.rows) - len(masked.columns)  # <s>, where specials are hidden
    at = [row + 1 - hidden for row in range(len(masked.rows))]
    return [column if column < len(masked.columns) else -1 for column in at]
