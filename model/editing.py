"""Carrying out edits: a listener that returns changed tensors. The weights stay as they are.

One list of edits for a whole batch (`edited`), or one list for each row of it (`edited_rows`): the batch axis is the
edit axis then, and the unedited run is one more row.
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

import torch
from torch import Tensor

from model.editlist import need_means
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
from model.taps import Listener

Means = Mapping[str, Tensor]  # tap of head outputs -> (B or 1, H, 1, K), from what_if.head_means
Shown = Callable[[str, Tensor], None]

_ATTENTION = {"encoder": "encoder.layers.{}.self_attention", "masked": "decoder.layers.{}.self_attention"}
_ATTENTION |= {"cross": "decoder.layers.{}.cross_attention"}
_SUBLAYER = _ATTENTION | {f"{side}_feed_forward": f"{side}.layers.{{}}.feed_forward" for side in ("encoder", "decoder")}
_MASKED = "decoder.layers.*.self_attention.may_look_tap"
_REMEMBERED = ("may_look_tap", "queries_tap", "embeddings_tap", "output_tap")  # an edit at a later tap needs them


def edited(edits: Sequence[Edit], then: Shown | None = None, *, means: Means | None = None) -> Listener:
    """A listener that carries out the edits, in order, and shows `then` each tensor as it comes out of them.

    It also serves decoding with a cache. EditError if a head is to be held at its mean and `means` are not there.
    """
    return _Listening([edits], then, means, shared=True)


def edited_rows(lists: Sequence[Sequence[Edit]], *, means: Means | None = None) -> Listener:
    """A listener for one teacher-forced pass over as many rows as there are lists: lists[i] edits row i only."""
    return _Listening(lists, None, means, shared=False)


class _Listening:
    """What `edited` and `edited_rows` make: it belongs to one call, and remembers what was heard in it."""

    def __init__(
        self, lists: Sequence[Sequence[Edit]], then: Shown | None, means: Means | None, *, shared: bool
    ) -> None:
        if means is None and any(need_means(edits) for edits in lists):
            raise EditError("holding a head at its mean needs the means of the unedited run; hand them in as means=")
        self.lists, self.then, self.means, self.shared = lists, then, means or {}, shared
        self.acting: dict[str, list[tuple[slice, Edit]]] = {}  # by tap, filled as taps are heard
        self.seen: dict[str, Tensor] = {}
        self.first = 0  # absolute position of the decoder's first row in this step

    def __call__(self, name: str, tensor: Tensor) -> Tensor | None:
        changed = self._changed(name, tensor)
        if name.endswith(_REMEMBERED):
            self.seen[name] = changed
        if fnmatchcase(name, _MASKED):  # with a cache its columns reach further back than its rows
            self.first = tensor.shape[-1] - tensor.shape[-2]
        if self.then is not None:
            self.then(name, changed)
        return None if changed is tensor else changed

    def _changed(self, name: str, tensor: Tensor) -> Tensor:
        if name not in self.acting:
            self.acting[name] = [
                (slice(None) if self.shared else slice(row, row + 1), edit)
                for row, edits in enumerate(self.lists)
                for edit in edits
                if any(fnmatchcase(name, place) for place in _places(edit))
            ]
        if not self.acting[name]:
            return tensor
        if self.shared:
            for _, edit in self.acting[name]:
                tensor = self._apply(edit, name, tensor, slice(None))
            return tensor
        return self._by_row(name, tensor)

    def _by_row(self, name: str, tensor: Tensor) -> Tensor:
        if name.endswith("positions_tap"):  # the same for all rows; where they are added the rows part
            return tensor
        if len(tensor) != len(self.lists):
            raise ValueError(f"{len(self.lists)} lists of edits need as many rows, but {name} has {len(tensor)}")
        changed = tensor.clone()
        for rows, edit in self.acting[name]:
            changed[rows] = self._apply(edit, name, changed[rows], rows)
        return changed

    def _apply(self, edit: Edit, name: str, tensor: Tensor, rows: slice) -> Tensor:
        match edit:
            case Silence():
                return _with_head(tensor, edit.head, self._mean(edit, name, rows))
            case Only():
                return _with_head(torch.zeros_like(tensor), edit.head, tensor[:, edit.head - 1])
            case Uniform() | SetCell() | SetRow():
                return self._apply_to_weights(edit, name, tensor, rows)
            case LiftMask():
                return tensor.any(dim=-2, keepdim=True).expand_as(tensor)  # padding stays hidden from every row
            case NoPositions():
                if name.endswith("positions_tap"):
                    return torch.zeros_like(tensor)
                return self._beside(name, "embeddings_tap", rows)
            case NoScaling():
                return tensor * self._beside(name, "queries_tap", rows).shape[-1] ** 0.5
            case SkipSublayer():
                return torch.zeros_like(tensor)
            case NoResidual():
                return self._beside(name, "output_tap", rows)

    def _apply_to_weights(self, edit: Uniform | SetCell | SetRow, name: str, tensor: Tensor, rows: slice) -> Tensor:
        """tensor (B, H, T, S); an edit of a row that is not in this step leaves it as it is."""
        _, _, T, S = tensor.shape
        may_look = self._beside(name, "may_look_tap", rows)[:, 0].expand(len(tensor), T, S)
        if isinstance(edit, Uniform):
            return _with_head(tensor, edit.head, _shares(may_look.to(tensor.dtype)))
        at = edit.row - 1 - (0 if edit.kind == "encoder" else self.first)
        if not 0 <= at < T or (edit.column is not None and edit.column > S):
            return tensor
        lines = _with_head(tensor, edit.head, tensor[:, edit.head - 1])  # a copy
        lines[:, edit.head - 1, at] = _line(edit, lines[:, edit.head - 1, at], may_look[:, at])
        return lines

    def _mean(self, edit: Silence, name: str, rows: slice) -> Tensor | float:
        if edit.by == "zero":
            return 0.0
        means = self.means[name][:, edit.head - 1]  # (B or 1, 1, K)
        return means if len(means) == 1 else means[rows]

    def _beside(self, name: str, tap: str, rows: slice) -> Tensor:
        """What was heard in the same module at another tap, in these rows; a mask may be one for all rows."""
        heard = self.seen[f"{name.rpartition('.')[0]}.{tap}"]
        return heard if len(heard) == 1 else heard[rows]


def _places(edit: Edit) -> tuple[str, ...]:
    """The taps at which an edit acts."""
    match edit:
        case Silence() | Only():
            return (_ATTENTION[edit.kind].format(edit.layer) + ".head_outputs_tap",)
        case Uniform() | SetCell() | SetRow():
            return (_ATTENTION[edit.kind].format(edit.layer) + ".weights_tap",)
        case LiftMask():
            return (_MASKED,)
        case NoPositions():
            return f"{edit.side}.input.positions_tap", f"{edit.side}.input.sum_tap"
        case NoScaling():
            return (_ATTENTION[edit.kind].format(edit.layer) + ".scores_tap",)
        case SkipSublayer():
            return (_SUBLAYER[edit.sublayer].format(edit.layer) + "_residual.output_tap",)
        case NoResidual():
            return (_SUBLAYER[edit.sublayer].format(edit.layer) + "_residual.residual_tap",)


def _with_head(tensor: Tensor, head: int, values: Tensor | float) -> Tensor:
    """A copy of (B, H, …) with these values in one head (from 1)."""
    copy = tensor.clone()
    copy[:, head - 1] = values
    return copy


def _shares(numbers: Tensor) -> Tensor:
    """Rows that sum to 1; a row of 0 stays 0."""
    return numbers / numbers.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(numbers.dtype).tiny)


def _line(edit: SetCell | SetRow, line: Tensor, may_look: Tensor) -> Tensor:
    """One row of one head, in each sentence: line and may_look (B, S) -> (B, S), what the edit makes of it."""
    everywhere = _shares(may_look.to(line.dtype))
    if edit.column is None:
        return everywhere
    chosen = torch.zeros_like(may_look)
    chosen[:, edit.column - 1] = True
    weight = 1.0 if isinstance(edit, SetRow) else edit.weight
    rest = line.masked_fill(chosen, 0.0)
    rest = torch.where(rest.sum(dim=-1, keepdim=True) > 0, rest, everywhere.masked_fill(chosen, 0.0))
    made = torch.where(chosen, weight, _shares(rest) * (1 - weight))  # (B, S)
    possible = may_look[:, edit.column - 1] & ((rest.sum(dim=-1) > 0) | (weight == 1))
    return torch.where(possible[:, None], made, line)
