"""One piece in two sentences: one embedding, and vectors that part from layer to layer. No torch."""

from dataclasses import dataclass

import numpy as np

from model.stream import SUBLAYERS, cosines, layers, stream, tokens
from model.trace import Array, LabelError, Trace
from model.vectors import alike

LONG = 4  # letters


@dataclass(frozen=True)
class Contexts:
    """How like the vectors of one piece in two sentences are, from the embedding to the last layer."""

    places: tuple[str, ...]  # embedding, with position, after layer 1 …
    cosines: Array  # (places,) of the piece with itself
    others: Array  # (places,) mean over all pairs of different pieces, one of each sentence; NaN if there is none


def shared(first: Trace, second: Trace, side: str) -> dict[int, int]:
    """Places (from 0) of the first sentence whose piece stands in the second as well, and its first place there."""
    there: dict[int | None, int] = {}
    for place, token in enumerate(tokens(second, side)):
        there.setdefault(token.id, place)
    here = enumerate(tokens(first, side))
    return {place: there[token.id] for place, token in here if token.id in there}


def most_parted(first: Trace, second: Trace, side: str) -> int | None:
    """The place (from 0) of the shared piece whose vectors are least alike after the last layer.

    Of pieces with LONG letters or more, if there are any: shorter ones are mostly grammar. None without a shared word.
    """
    here, pairs = tokens(first, side), shared(first, second, side)
    words = {row: sum(c.isalnum() for c in here[row].text) for row in pairs if not here[row].special}
    least = min(LONG, max(words.values(), default=0))
    both = {row: pairs[row] for row, letters in words.items() if letters >= max(least, 1)}
    if not both:
        return None
    ends = [_states(trace, side)[-1][list(places)] for trace, places in ((first, both), (second, both.values()))]
    return list(both)[int(np.argmin(cosines(*ends)))]


def contexts(first: Trace, second: Trace, side: str, row: int, column: int) -> Contexts:
    """The piece at `row` of the first sentence beside that at `column` of the second, from 0.

    Raises LabelError if they are different pieces.
    """
    ids = [np.array([token.id for token in tokens(trace, side)]) for trace in (first, second)]
    if ids[0][row] != ids[1][column]:
        raise LabelError(f"piece {ids[0][row]} at {row + 1} and piece {ids[1][column]} at {column + 1} are different")
    unlike = ids[0][:, None] != ids[1]
    pairs = list(zip(_states(first, side), _states(second, side), strict=True))
    every = [alike(one, other) for one, other in pairs]  # (T, T') each
    return Contexts(
        ("embedding", "with position", *(f"after layer {n}" for n in range(1, layers(first, side) + 1))),
        np.array([found[row, column] for found in every]),
        np.array([found[unlike].mean() if unlike.any() else np.nan for found in every]),
    )


def _states(trace: Trace, side: str) -> list[Array]:
    """(T, D) each: the embeddings, with positions, and the stream after every layer."""
    embeddings = trace.tensors[f"{side}.input.embeddings_tap"].astype(np.float64)
    return [embeddings, *stream(trace, side).states[:: len(SUBLAYERS[side])]]
