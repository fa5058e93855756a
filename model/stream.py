"""The residual stream of one side: what each sub-layer found, added and left behind. In float64, without torch.

Post-norm, as in the paper (3.1): the sub-layer's output is added to the stream, and LayerNorm of the sum is the stream
that the next sub-layer finds. Pre-norm: the sub-layer reads LayerNorm of the stream, and the sum goes on as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.trace import Array, LabelError, Token, Trace

# In order of flow; attentions under their kind, as in model/edits.py. The tail of each one's path stands beside it.
SUBLAYERS = {
    "encoder": {"encoder": "self_attention", "encoder_feed_forward": "feed_forward"},
    "decoder": {"masked": "self_attention", "cross": "cross_attention", "decoder_feed_forward": "feed_forward"},
}


@dataclass(frozen=True)
class Sublayer:
    """One sub-layer's place in the stream; arrays (T, D)."""

    name: str  # encoder, masked, cross, encoder_feed_forward, decoder_feed_forward
    layer: int  # from 1
    found: Array  # the stream before it
    added: Array  # what it puts out
    total: Array  # the sum
    left: Array  # the stream after it
    norm_in: Array  # into its LayerNorm
    norm_out: Array  # out of it

    @property
    def carried(self) -> Array:
        """What came past the sub-layer on the residual path: nothing, where that is switched off."""
        return self.total - self.added

    @property
    def is_attention(self) -> bool:
        return not self.name.endswith("feed_forward")


@dataclass(frozen=True)
class Stream:
    """All sub-layers of one side, in order of flow."""

    side: str
    tokens: tuple[Token, ...]
    start: Array  # (T, D) embeddings and positions
    sublayers: tuple[Sublayer, ...]
    pre_norm: bool

    @property
    def states(self) -> Array:
        """(N + 1, T, D): the start, and the stream after each of the N sub-layers."""
        return np.stack([self.start, *(sublayer.left for sublayer in self.sublayers)])


def layers(trace: Trace, side: str) -> int:
    """How many layers the encoder or the decoder has."""
    if side not in SUBLAYERS:
        raise LabelError(f"side {side!r} is not known; choose encoder or decoder")
    return trace.layers("encoder" if side == "encoder" else "masked")


def tokens(trace: Trace, side: str) -> tuple[Token, ...]:
    """Whose vectors flow on this side: the source, or what the decoder reads."""
    return trace.source if side == "encoder" else trace.read


def stream(trace: Trace, side: str) -> Stream:
    """The stream of the encoder or the decoder. Raises LabelError if the trace does not hold it."""
    every = range(1, layers(trace, side) + 1)
    start = _tensor(trace, f"{side}.input.sum_tap")
    pre_norm = _norm_comes_first(trace, side)
    found, sublayers = start, []
    for layer in every:
        for name, tail in SUBLAYERS[side].items():
            sublayers.append(_sublayer(trace, name, f"{side}.layers.{layer}.{tail}_residual", layer, found, pre_norm))
            found = sublayers[-1].left
    return Stream(side, tokens(trace, side), start, tuple(sublayers), pre_norm)


def _sublayer(trace: Trace, name: str, at: str, layer: int, found: Array, pre_norm: bool) -> Sublayer:
    added, total, norm = (_tensor(trace, f"{at}.{tap}_tap") for tap in ("output", "residual", "norm"))
    left, norm_in = (total, found) if pre_norm else (norm, total)
    return Sublayer(name, layer, found, added, total, left, norm_in, norm)


def _norm_comes_first(trace: Trace, side: str) -> bool:
    """Whether LayerNorm was heard before the sub-layer's output: a trace keeps the order in which taps were passed."""
    heard = list(trace.tensors)
    first = f"{side}.layers.1.{next(iter(SUBLAYERS[side].values()))}_residual"
    return heard.index(f"{first}.norm_tap") < heard.index(f"{first}.output_tap")


def _tensor(trace: Trace, name: str) -> Array:
    if name not in trace.tensors:
        raise LabelError(f"this trace does not hold {name}; capture with every tap open")
    return trace.tensors[name].astype(np.float64)


def lengths(vectors: Array) -> Array:
    """(…,) Euclidean norms of vectors (…, D)."""
    return np.linalg.norm(vectors, axis=-1)


def cosines(one: Array, other: Array) -> Array:
    """(…,) of vectors (…, D); NaN where one of them is 0 and has no direction."""
    products, sizes = (one * other).sum(axis=-1), lengths(one) * lengths(other)
    return np.divide(products, sizes, out=np.full(products.shape, np.nan), where=sizes > 0)


def shares(part: Array, total: Array) -> Array:
    """(…,) how much of a sum one of its parts makes up: its projection on the sum, over the length of the sum.

    The shares of all parts sum to 1; a part that points the other way has a share below 0.
    """
    products, sizes = (part * total).sum(axis=-1), (total**2).sum(axis=-1)
    return np.divide(products, sizes, out=np.full(products.shape, np.nan), where=sizes > 0)


def between_tokens(state: Array) -> Array:
    """(T, T) cosines between the vectors (T, D) of all tokens."""
    return cosines(state[:, None], state[None])


def mean_between(state: Array) -> float:
    """The mean cosine over all pairs of different tokens (T, D); NaN for one token alone."""
    apart = between_tokens(state)[~np.eye(len(state), dtype=bool)]
    return float(apart.mean()) if apart.size else float("nan")


# What can be said of a stream at each of its places, for each token: (places, T). `start` has a value of its own where
# states are told (N + 1 places); where sub-layers are told, there are N.
STATES = ("length", "previous", "start", "end")
ADDITIONS = ("added", "agrees", "share")
NORMS = ("mean_before", "mean_after", "variance_before", "variance_after")
QUANTITIES = (*STATES, *ADDITIONS, *NORMS)


def measured(found: Stream, quantity: str) -> Array:
    """One of QUANTITIES: (N + 1, T) for STATES, (N, T) for what is told of sub-layers."""
    if quantity in STATES:
        return _of_states(found.states, quantity)
    if quantity in ADDITIONS:
        return np.stack([_of_addition(sublayer, quantity) for sublayer in found.sublayers])
    if quantity not in NORMS:
        raise ValueError(f"quantity {quantity!r} is not known; choose {', '.join(QUANTITIES)}")
    what, where = quantity.split("_")
    told = np.stack([s.norm_in if where == "before" else s.norm_out for s in found.sublayers])  # (N, T, D)
    return told.mean(axis=-1) if what == "mean" else told.var(axis=-1)


def _of_states(states: Array, quantity: str) -> Array:
    if quantity == "length":
        return lengths(states)
    if quantity == "previous":  # the start has none
        return np.concatenate([np.full((1, states.shape[1]), np.nan), cosines(states[1:], states[:-1])])
    return cosines(states, states[:1] if quantity == "start" else states[-1:])


def _of_addition(sublayer: Sublayer, quantity: str) -> Array:
    if quantity == "added":
        return lengths(sublayer.added)
    if quantity == "agrees":
        return cosines(sublayer.added, sublayer.found)
    return shares(sublayer.added, sublayer.total)


def telling(tokens: Sequence[Token]) -> Array:
    """(T,) bool: tokens that are neither special nor punctuation; if there is none, all of them."""
    kept = np.array([not (token.special or token.is_punctuation) for token in tokens])
    return kept | ~kept.any()


def most_turned(found: Stream) -> tuple[int, int]:
    """The telling token that ends furthest from where it began, and the sub-layer that turned it most, from 1."""
    distances = 1 - np.nan_to_num(measured(found, "end")[0])
    position = int(np.where(telling(found.tokens), distances, -np.inf).argmax())
    return position + 1, int(np.nan_to_num(measured(found, "previous")[1:, position]).argmin()) + 1
