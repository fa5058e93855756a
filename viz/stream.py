"""The residual stream: its pictures over tokens and places, its lines for one token, and what they say in words."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from model.stream import NORMS, Stream, Sublayer, between_tokens, cosines, lengths, mean_between, measured, shares
from model.trace import Array, Trace
from viz import curves, field
from viz.inside import digits, signed
from viz.payload import texts
from viz.quantities import NO_START, WORDING
from viz.theme import MARKS, Theme

TYPICAL = 0.95  # of all values fit on the scale: a single huge one, and there are such, must not hide the others


def name(sublayer: Sublayer) -> str:
    """A sub-layer in words: its layer, the mark of its kind, its kind."""
    return f"layer {sublayer.layer} · {_kind(sublayer)}"


def _kind(sublayer: Sublayer) -> str:
    return f"{MARKS[sublayer.name]} {sublayer.name}" if sublayer.is_attention else "feed-forward"


def places(found: Stream) -> list[str]:
    """The start and each sub-layer, as an axis has room for them."""
    return ["start", *(f"L{sublayer.layer} {_kind(sublayer)}" for sublayer in found.sublayers)]


def values(found: Stream, quantity: str) -> Array:
    """(T, N + 1): a row for each token, a column for each place; NaN at the start where it has no value there."""
    told = measured(found, quantity)
    if len(told) == len(found.sublayers):
        told = np.concatenate([np.full((1, told.shape[1]), np.nan), told])
    return told.T


def over_tokens(found: Stream, quantity: str, *, theme: Theme, position: int, sublayer: int) -> bytes:
    """One quantity for every token at every place. position and sublayer count from 1."""
    told, wording = values(found, quantity), WORDING[quantity]
    there = np.isfinite(told)
    around = wording.cosine or bool(told[there].min(initial=0.0) < 0)
    return field.payload(
        told,
        rows=texts(found.tokens),
        columns=places(found),
        theme=theme,
        hue="signed" if around else "chrome",
        limit=1.0 if wording.cosine else field.round_limit(np.quantile(np.abs(told[there]), TYPICAL)),
        sentence=wording.sentence,
        title=wording.title,
        row_title="token",
        column_title="after each sub-layer",
        pinned=(position - 1, sublayer),
        stays=True,
        allowed=there,
        forbidden=NO_START,
    )


def table(found: Stream, quantity: str) -> pd.DataFrame:
    """The same numbers."""
    return field.table(values(found, quantity), texts(found.tokens), places(found))


def lines(found: Stream, quantity: str, position: int, others: Mapping[str, Stream]) -> list[curves.Series]:
    """One token through all places: beside the mean of all tokens, or for a LayerNorm before it and after it.

    `others` are runs of the same sentence under edits, by what is said of them.
    """
    at = np.arange(len(found.sublayers) + 1, dtype=float)
    if quantity in NORMS:
        what = quantity.split("_")[0]
        parts = [("before LayerNorm", f"{what}_before", True), ("after LayerNorm", f"{what}_after", False)]
        return [
            curves.Series(said, at[1:], values(found, part)[position - 1, 1:], "chrome", dashed=dashed, dots=True)
            for said, part, dashed in parts
        ]
    told = values(found, quantity)
    kept = np.isfinite(told).all(axis=0)
    made = [
        curves.Series(f"‘{found.tokens[position - 1].text}’", at, told[position - 1], "ink", dots=True),
        curves.Series("mean of all tokens", at[kept], told[:, kept].mean(axis=0), "chrome", strength=0.6),
    ]
    for said, other in others.items():
        made.append(curves.Series(said, at, values(other, quantity)[position - 1], "positive", dashed=True, dots=True))
    return made


def line(series: Sequence[curves.Series], found: Stream, quantity: str, *, theme: Theme, sublayer: int) -> bytes:
    """Those lines as a picture; sublayer, from 1, is marked."""
    wording = WORDING[quantity]
    return drawn(series, found, wording.choice, theme=theme, sublayer=sublayer, cosine=wording.cosine)


def drawn(
    series: Sequence[curves.Series], found: Stream, title: str, *, theme: Theme, sublayer: int, cosine: bool
) -> bytes:
    """Lines over the places of a stream."""
    least = min(float(np.nanmin(s.y)) for s in series)
    return curves.payload(
        series,
        theme=theme,
        x_title="place",
        y_title=title,
        x_labels={float(n): place for n, place in enumerate(places(found))},
        y_range=(-1.0 if least < 0 else 0.0, 1.0) if cosine else None,
        marked=sublayer,
        stays=True,
        sentence="{x}: {values}",
    )


def alike(found: Stream, sublayer: int, *, theme: Theme, position: int) -> bytes:
    """Cosines between all tokens at one place (0: the start). The row of the token at `position`, from 1, is marked."""
    told = between_tokens(found.states[sublayer])
    return field.payload(
        told,
        rows=texts(found.tokens),
        columns=texts(found.tokens),
        theme=theme,
        hue="signed",
        limit=1.0,
        sentence="‘{row}’ ({row_number}) and ‘{column}’ ({column_number}): cosine {value}",
        title=f"Cosine between tokens, {places(found)[sublayer]}",
        row_title="token",
        column_title="token",
        pinned=(position - 1, None),
        stays=True,
    )


def alike_by_place(found: Stream, others: Mapping[str, Stream]) -> list[curves.Series]:
    """The mean cosine between different tokens at each place; no line for one token alone."""
    if len(found.tokens) < 2:
        return []
    at = np.arange(len(found.sublayers) + 1, dtype=float)
    runs = [("as trained", found, "ink"), *((said, run, "positive") for said, run in others.items())]
    means = [np.array([mean_between(state) for state in run.states]) for _, run, _ in runs]
    return [
        curves.Series(said, at, mean, colour, dashed=run is not found, dots=True)
        for (said, run, colour), mean in zip(runs, means, strict=True)
    ]


def left_of(found: Stream, other: Stream, position: int) -> list[curves.Series]:
    """How much of the unedited stream is left under edits: the cosine with it at each place."""
    at = np.arange(len(found.sublayers) + 1, dtype=float)
    told = cosines(found.states, other.states)  # (N + 1, T)
    return [
        curves.Series(f"‘{found.tokens[position - 1].text}’", at, told[:, position - 1], "ink", dots=True),
        curves.Series("mean of all tokens", at, told.mean(axis=1), "chrome", strength=0.6),
    ]


def account(sublayer: Sublayer, position: int, *, pre_norm: bool) -> str:
    """What one sub-layer did to the token at `position`, from 1, in numbers."""
    t = position - 1
    found, added, total = sublayer.found[t], sublayer.added[t], sublayer.total[t]
    agrees = cosines(added, found)
    direction = "nothing to compare" if np.isnan(agrees) else f"cosine {signed(float(agrees))} with it"
    said = (
        f"It found a vector of length {length(found)} and added one of length {length(added)} ({direction}). "
        f"Of the sum, of length {length(total)}, the sub-layer makes up {signed(float(shares(added, total)))}, "
        f"what came along the residual path {signed(float(shares(sublayer.carried[t], total)))}."
    )
    before, after = sublayer.norm_in[t], sublayer.norm_out[t]
    return said + (
        f" LayerNorm, {'before the sub-layer' if pre_norm else 'of the sum'}: mean {signed(before.mean())} → "
        f"{signed(after.mean())}, variance {digits(before.var())} → {digits(after.var())}."
    )


def what_is_left(as_trained: Trace, edited: Trace, said: str) -> str:
    """What an edit does to the probability of the translation that stands above."""
    before, after = (float(trace.target_log_probabilities().sum()) for trace in (as_trained, edited))
    written = np.array([token.id for token in edited.predicted])
    kept = int((edited.logits.argmax(axis=-1) == written).sum())
    return (
        f"With {said}, the log-probability of the same translation goes from {signed(before)} to {signed(after)}; "
        f"at {kept} of {len(written)} steps the piece that was written is still the likeliest."
    )


def length(vector: Array) -> str:
    return digits(float(lengths(vector)))
