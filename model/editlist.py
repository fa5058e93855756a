"""A list of edits as text, as it stands in an address: `silence-encoder-2.5,cell-cross-3.1-4.7-0.25`. No torch."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from model.config import ModelConfig

LIMIT = 100  # edits of one run: more than the shipped model has heads

_NUMBER = "([1-9][0-9]{0,4})"
_HEAD = rf"-([a-z_]+)-{_NUMBER}\.{_NUMBER}"
_SUBLAYER = rf"-([a-z_]+)-{_NUMBER}"


def _silence_by(by: str) -> Callable[..., Edit]:
    return lambda kind, layer, head: Silence(kind, int(layer), int(head), by)


def _of_head(made: Callable[..., Edit]) -> Callable[..., Edit]:
    return lambda kind, *numbers: made(kind, *(None if n is None else int(n) for n in numbers))


def _cell(kind: str, layer: str, head: str, row: str, column: str, weight: str) -> Edit:
    return SetCell(kind, int(layer), int(head), int(row), int(column), float(weight))


# First word of the text -> an example, what follows that word, and what is made of it.
_FORMS: dict[str, tuple[str, str, Callable[..., Edit]]] = {
    "silence": ("silence-encoder-2.5", _HEAD, _silence_by("zero")),
    "mean": ("mean-encoder-2.5", _HEAD, _silence_by("mean")),
    "uniform": ("uniform-cross-1.3", _HEAD, _of_head(Uniform)),
    "only": ("only-masked-3.2", _HEAD, _of_head(Only)),
    "cell": ("cell-encoder-2.5-4.7-0.25", rf"{_HEAD}-{_NUMBER}\.{_NUMBER}-([0-9.]+(?:e-[0-9]+)?)", _cell),
    "row": ("row-cross-1.3-4.7", rf"{_HEAD}-{_NUMBER}(?:\.{_NUMBER})?", _of_head(SetRow)),
    "lift_mask": ("lift_mask", "", LiftMask),
    "no_positions": ("no_positions-encoder", "-([a-z_]+)", NoPositions),
    "no_scaling": ("no_scaling-masked-2", _SUBLAYER, _of_head(NoScaling)),
    "skip": ("skip-decoder_feed_forward-2", _SUBLAYER, _of_head(SkipSublayer)),
    "no_residual": ("no_residual-cross-2", _SUBLAYER, _of_head(NoResidual)),
}


def parsed(text: str) -> tuple[Edit, ...]:
    """The edits that a text lists, separated by commas. Raises EditError in a sentence; the inverse of `text`."""
    edits = tuple(_parsed(part.strip()) for part in text.split(",") if part.strip())
    if len(edits) > LIMIT:
        raise EditError(f"these are {len(edits)} edits; at most {LIMIT} are carried out at once")
    return edits


def text(edits: Sequence[Edit]) -> str:
    """The edits as they stand in an address."""
    return ",".join(str(edit) for edit in edits)


def _parsed(part: str) -> Edit:
    tool = part.partition("-")[0]
    if tool not in _FORMS:
        raise EditError(f"there is no edit {tool[:40]!r}; choose {', '.join(list(_FORMS)[:-1])} or {list(_FORMS)[-1]}")
    example, form, make = _FORMS[tool]
    found = re.fullmatch(form, part[len(tool) :])
    if found is None:
        raise EditError(f"{part[:60]!r} cannot be read; it should look like {example}")
    try:
        return make(*found.groups())
    except EditError:
        raise
    except ValueError as error:  # 1.2.3 is no number
        raise EditError(f"{part[:60]!r} cannot be read; it should look like {example}") from error


def toggled(edits: Sequence[Edit], edit: Edit) -> tuple[Edit, ...]:
    """The list without this edit if it is there; else with it at the end, in the place of those that it makes void.

    Raises EditError if there is no room for one more.
    """
    if edit in edits:
        return tuple(other for other in edits if other != edit)
    kept = tuple(other for other in edits if not _makes_void(edit, other))
    if len(kept) >= LIMIT:
        raise EditError(f"{LIMIT} edits are carried out at once, and no more; undo one first")
    return (*kept, edit)


def _makes_void(edit: Edit, other: Edit) -> bool:
    """Whether nothing is left of `other` once `edit` acts after it, or both are one choice among several."""
    if isinstance(edit, Silence | Only) and isinstance(other, Silence | Only):
        of_one_layer = (edit.kind, edit.layer) == (other.kind, other.layer)
        both = isinstance(edit, Only) and isinstance(other, Only)
        return of_one_layer and (both or (type(edit) is type(other) and edit.head == other.head))
    if not isinstance(edit, Uniform | SetRow | SetCell) or not isinstance(other, Uniform | SetRow | SetCell):
        return False
    if edit.at != other.at or isinstance(other, Uniform):
        return False
    if isinstance(edit, Uniform) or edit.row != other.row:
        return isinstance(edit, Uniform)
    return isinstance(edit, SetRow) or edit.column == other.column


def inside(edits: Sequence[Edit], kind: str, layer: int, head: int) -> list[Edit]:
    """The edits that act between the scores and the output of this head."""
    found: list[Edit] = []
    for edit in edits:
        if isinstance(edit, Only):
            mine = (edit.kind, edit.layer) == (kind, layer) and edit.head != head
        elif isinstance(edit, NoScaling):
            mine = (edit.kind, edit.layer) == (kind, layer)
        else:
            mine = isinstance(edit, Silence | Uniform | SetCell | SetRow) and edit.at == f"{kind}-{layer}.{head}"
        found += [edit] if mine else []
    return found


def need_means(edits: Sequence[Edit]) -> bool:
    """Whether any head is held at its mean, so that the unedited run must be known."""
    return any(isinstance(edit, Silence) and edit.by == "mean" for edit in edits)


def usable(edits: Sequence[Edit], config: "ModelConfig") -> tuple[tuple[Edit, ...], list[str]]:
    """The edits that a model of this shape can carry out, and a sentence for each of the others."""
    lifted = LiftMask() in edits
    found = [(edit, _misfit(edit, config) or ("" if lifted else _forbidden(edit))) for edit in edits]
    return tuple(edit for edit, misfit in found if not misfit), [misfit for _, misfit in found if misfit]


def without_effect(edits: Sequence[Edit], trace: Trace) -> list[str]:
    """A sentence for each edit of a row or column that this run does not have."""
    said = []
    for edit in edits:
        if isinstance(edit, SetCell | SetRow):
            rows, columns, _ = trace.labels(edit.kind)
            if edit.row > len(rows) or (edit.column or 1) > len(columns):
                there = f"here {edit.kind} attention has rows 1 to {len(rows)} and columns 1 to {len(columns)}"
                said.append(f"{edit} changes nothing: {there}")
    return said


def _misfit(edit: Edit, config: "ModelConfig") -> str:
    """Why a model of this shape has no place for the edit; "" if it has."""
    if isinstance(edit, LiftMask | NoPositions):
        return ""
    on_encoder = (edit.sublayer if isinstance(edit, SkipSublayer | NoResidual) else edit.kind).startswith("encoder")
    layers = config.encoder_layers if on_encoder else config.decoder_layers
    if edit.layer > layers:
        side = "encoder" if on_encoder else "decoder"
        return f"{edit} has no place in this model: its {side} has layers 1 to {layers}"
    if not isinstance(edit, NoScaling | SkipSublayer | NoResidual) and edit.head > config.n_heads:
        return f"{edit} has no place in this model: each layer has heads 1 to {config.n_heads}"
    return ""


def _forbidden(edit: Edit) -> str:
    """Why the mask of masked attention leaves the edit nothing to do; "" if it leaves something."""
    if not isinstance(edit, SetCell | SetRow) or edit.kind != "masked" or edit.column is None:
        return ""
    if edit.column > edit.row:
        return f"{edit} cannot be done: row {edit.row} of masked attention may look at columns 1 to {edit.row} only"
    if isinstance(edit, SetCell) and edit.row == 1 and edit.weight < 1:
        return f"{edit} cannot be done: the first row of masked attention has one column, whose weight is always 1"
    return ""
