"""One set of tokens in two orders: how like each token's vectors are, and the finding in words."""

from collections.abc import Sequence

import numpy as np

from model.trace import Array, Token
from viz import curves
from viz.positions import labels
from viz.theme import Theme

HOW_TO_READ = (
    "The words of the sentence run through the encoder twice, in order and backwards (what closes the sentence stays "
    "last). Each point compares what a token becomes in both. Without positions, attention weighs the same set of "
    "vectors either way."
)


def lines(with_positions: Array, without: Array) -> list[curves.Series]:
    """(S,) cosines each, token by token."""
    x = np.arange(1, len(without) + 1)
    return [
        curves.Series("without positions", x, without, dashed=True, dots=True),
        curves.Series("with positions", x, with_positions, "encoder", dots=True),
    ]


def picture(shown: Sequence[curves.Series], tokens: Sequence[Token], *, theme: Theme) -> bytes:
    lowest = min(0.0, *(float(line.y.min()) for line in shown))
    return curves.payload(
        shown,
        theme=theme,
        x_title="",
        y_title="cosine between a token's vectors in both orders",
        x_labels=labels(tokens),
        y_range=(0.0 if lowest == 0 else -1.0, 1.0),
        sentence="‘{x}’ — {values}",
    )


def said(with_positions: float, without: float) -> str:
    """The largest difference of any number of any token's vector between the two orders."""
    return (
        f"Without positions no number of any vector differs by more than {without:.1e} between the two orders: the "
        f"rows are the same vectors in another order. With positions the largest difference is {with_positions:.2f}."
    )
