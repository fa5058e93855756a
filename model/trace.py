"""One run of the model as numpy arrays with labels: what every picture is drawn from. No torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

Array = np.ndarray

KINDS = ("encoder", "masked", "cross")
SPECIAL = ("<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[PAD]")  # as models commonly write them
_WHERE = {
    "encoder": ("encoder", "self_attention"),
    "masked": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


class LabelError(ValueError):
    """Numbers and labels that do not fit each other, or a head that is not there."""


@dataclass(frozen=True)
class Token:
    """One piece, or one whole word, as a reader sees it."""

    text: str  # no U+2581; a piece that continues a word begins with a middle dot
    word: str  # the whole word that the piece is part of
    continues: bool = False  # belongs to the same word as the token before it
    special: bool = False  # <s> or </s>
    id: int | None = None  # in the vocabulary; None for a whole word

    @property
    def is_punctuation(self) -> bool:
        """Whether it has neither letter nor digit, and is no special token."""
        return not self.special and not any(c.isalnum() for c in self.word)


@dataclass(frozen=True)
class Candidate:
    """A piece that the model might have written at one step."""

    text: str
    probability: float
    written: bool  # this is the one in the translation


@dataclass(frozen=True)
class AttentionMap:
    """One head's attention: rows look, columns are looked at.

    scores, weights (rows, columns) float, allowed (rows, columns) bool; layer and head count from 1.
    A decoder row has two labels: the token it reads (`rows`) and the token it predicts (`predicts`).
    """

    kind: str
    layer: int
    head: int | None  # None: the mean of the layer's heads
    weights: Array
    scores: Array
    allowed: Array
    rows: tuple[Token, ...]
    columns: tuple[Token, ...]
    predicts: tuple[Token, ...] | None = None
    measure: str = "raw"  # what `weights` are: the head's own, or what model/measures.py makes of them

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LabelError(f"kind {self.kind!r} is not known; choose encoder, masked or cross")
        _counts_from_one("layer", self.layer)
        if self.head is not None:
            _counts_from_one("head", self.head)
        labelled = (len(self.rows), len(self.columns))
        for name in ("weights", "scores", "allowed"):
            if getattr(self, name).shape != labelled:
                raise LabelError(
                    f"{name} has shape {getattr(self, name).shape}, but there are labels for {labelled[0]} rows "
                    f"and {labelled[1]} columns"
                )
        if (self.predicts is None) != (self.kind == "encoder"):
            raise LabelError("decoder rows need a second label, what they predict; encoder rows have none")
        if self.predicts is not None and len(self.predicts) != len(self.rows):
            raise LabelError(f"{len(self.rows)} rows read a token, but {len(self.predicts)} predict one")

    @classmethod
    def of(
        cls,
        weights: Array,
        rows: Sequence[str],
        columns: Sequence[str] | None = None,
        *,
        predicts: Sequence[str] | None = None,
        kind: str = "encoder",
        layer: int = 1,
        head: int | None = 1,
        allowed: Array | None = None,
    ) -> "AttentionMap":
        """Anyone's attention weights (rows, columns) with their labels; columns default to the rows.

        Masked and cross rows need `predicts`, the token that each row predicts. A masked map that does not say what is
        allowed may look at itself and to the left. Scores are the logarithms of the weights, up to a constant a row.

        Raises LabelError if labels do not fit, or a weight is not a number from 0 to 1.
        """
        weights = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights <= 1 + 1e-6).all()):
            raise LabelError("attention weights are numbers from 0 to 1; some of these are not")
        if allowed is None:
            allowed = np.tri(*weights.shape, dtype=bool) if kind == "masked" else np.ones(weights.shape, dtype=bool)
        elif weights.shape == np.shape(allowed) and weights[~np.asarray(allowed, dtype=bool)].any():
            raise LabelError("a cell that may not be looked at has a weight above 0")
        with np.errstate(divide="ignore"):
            scores = np.log(weights)
        looks, looked = (tuple(Token(t, t, special=t in SPECIAL) for t in texts) for texts in (rows, columns or rows))
        told = None if predicts is None else tuple(Token(t, t, special=t in SPECIAL) for t in predicts)
        return cls(kind, layer, head, weights, scores, np.asarray(allowed, dtype=bool), looks, looked, told)


@dataclass(frozen=True)
class Trace:
    """Everything captured in one uncached, teacher-forced pass over one sentence and its translation."""

    source_text: str  # as the model read it: normalised, cut to the limit
    target_text: str
    source: tuple[Token, ...]  # pieces and </s>
    read: tuple[Token, ...]  # <s> and the target's pieces: what the decoder reads
    predicted: tuple[Token, ...]  # the target's pieces and </s>: what it is to predict
    tensors: Mapping[str, Array]  # tap name -> array, without the batch axis

    def __post_init__(self) -> None:
        if len(self.read) != len(self.predicted):
            raise LabelError(f"the decoder reads {len(self.read)} tokens but predicts {len(self.predicted)}")
        if not any(name.endswith("weights_tap") for name in self.tensors):
            raise LabelError("a trace needs the attention weights; capture them as well")

    @property
    def shape(self) -> tuple[int, int, int]:
        """T and S, the target's and the source's tokens with their specials, and K, the width of a head."""
        return len(self.read), len(self.source), int(self.attention("cross", 1, "queries").shape[-1])

    def layers(self, kind: str) -> int:
        """How many layers have this kind of attention."""
        prefix, suffix = f"{_side(kind)[0]}.layers.", f".{_side(kind)[1]}.weights_tap"
        return sum(name.startswith(prefix) and name.endswith(suffix) for name in self.tensors)

    def heads(self, kind: str) -> int:
        """How many heads each of them has."""
        return int(self.attention(kind, 1, "weights").shape[0])

    def attention(self, kind: str, layer: int, what: str) -> Array:
        """A tensor inside one attention, all heads: `what` is queries, keys, values, scores, may_look, weights …

        layer counts from 1. weights and scores (H, T, S); queries and head_outputs (H, T, K); keys, values (H, S, K)
        """
        _counts_from_one("layer", layer)
        side, attention = _side(kind)
        name = f"{side}.layers.{layer}.{attention}.{what}_tap"
        if name not in self.tensors:
            raise LabelError(f"no {what} of {kind} layer {layer} in this trace; it has layers 1 to {self.layers(kind)}")
        return self.tensors[name]

    def weights(self, kind: str) -> Array:
        """All heads of one kind, (L, H, T, S)."""
        return np.stack([self.attention(kind, layer, "weights") for layer in range(1, self.layers(kind) + 1)])

    def labels(self, kind: str) -> tuple[tuple[Token, ...], tuple[Token, ...], tuple[Token, ...] | None]:
        """Rows, columns, and what the rows predict."""
        if kind == "encoder":
            return self.source, self.source, None
        _side(kind)
        return self.read, self.read if kind == "masked" else self.source, self.predicted

    def map(self, kind: str, layer: int, head: int) -> AttentionMap:
        """One head. layer and head count from 1; LabelError if it is not there."""
        weights = self.attention(kind, layer, "weights")
        _counts_from_one("head", head)
        if head > weights.shape[0]:
            raise LabelError(f"{kind} layer {layer} has no head {head}; it has heads 1 to {weights.shape[0]}")
        scores = self.attention(kind, layer, "scores")[head - 1]
        may_look = self.attention(kind, layer, "may_look")[0]
        rows, columns, predicts = self.labels(kind)
        allowed = np.broadcast_to(may_look, scores.shape)
        return AttentionMap(kind, layer, head, weights[head - 1], scores, allowed, rows, columns, predicts)

    def mean(self, kind: str, layer: int) -> AttentionMap:
        """The mean of a layer's heads: of their weights and, to be shown only, of their scores."""
        first = self.map(kind, layer, 1)
        weights, scores = (self.attention(kind, layer, what).mean(axis=0) for what in ("weights", "scores"))
        return replace(first, head=None, weights=weights, scores=scores)

    @property
    def logits(self) -> Array:
        """(T, V), row t for predicted[t]."""
        return self.tensors["logits_tap"]

    def log_probabilities(self) -> Array:
        """(T, V) natural logarithms, float64; row t is what the model held of the token after read[t]."""
        return self._log_probabilities

    @cached_property
    def _log_probabilities(self) -> Array:
        logits = self.logits.astype(np.float64)
        shifted = logits - logits.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    def target_log_probabilities(self) -> Array:
        """(T,) of each token of the target, </s> included."""
        ids = np.array([token.id for token in self.predicted], dtype=np.intp)
        return self.log_probabilities()[np.arange(len(ids)), ids]

    def entropy(self) -> Array:
        """(T,) bits: how undecided the model was at each step; log2 V would be no idea at all."""
        log_probabilities = self.log_probabilities()
        return -(np.exp(log_probabilities) * log_probabilities).sum(axis=-1) / np.log(2)


def _side(kind: str) -> tuple[str, str]:
    if kind not in _WHERE:
        raise LabelError(f"kind {kind!r} is not known; choose encoder, masked or cross")
    return _WHERE[kind]


def _counts_from_one(name: str, value: int) -> None:
    if value < 1:
        raise LabelError(f"{name} {value} does not exist: {name}s count from 1")
