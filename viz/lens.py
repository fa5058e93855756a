"""What is read after each decoder layer, for canvas/lens.js, and the same as a table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.lens import Lens
from model.trace import Trace
from viz.payload import pack, texts
from viz.theme import Theme, for_canvas

CAPTION = (
    "The logit lens (nostalgebraist 2020): the output matrix put on the decoder's vectors after each layer, as if it "
    "ended there. In a cell the likeliest piece, bold where it is the one that is written; the stronger the colour, "
    "the more probable that one. Only the last row was trained to be read: what an earlier one does not say may be "
    "there all the same, in a direction of its own (Belrose et al. 2023)."
)
SENTENCE = (
    "{where}, having read ‘{read}’: likeliest ‘{top}’ ({top_probability}); "
    "‘{written}’, which is written, has rank {rank} ({probability})"
)


def payload(found: Lens, trace: Trace, names: Sequence[str], *, theme: Theme, step: int, layer: int) -> bytes:
    """A row for each layer, its input first; a column for each step. step and layer count from 1."""
    header = {
        "theme": for_canvas(theme),
        "step": step,
        "layer": layer,
        "layers": row_names(found),
        "read": texts(trace.read),
        "written": texts(trace.predicted),
        "tops": [[names[i] for i in row] for row in found.top],
        "since": found.since(),
        "sentence": SENTENCE,
    }
    arrays = {
        "probability": found.probability.astype(np.float32),
        "top": found.top_probability.astype(np.float32),
        "rank": found.rank.astype(np.float32),
        "hit": (found.rank == 1).astype(np.uint8),
    }
    return pack(header, arrays)


def row_names(found: Lens) -> list[str]:
    return ["before layer 1", *(f"after layer {layer}" for layer in range(1, len(found.top)))]


def since(found: Lens, trace: Trace, step: int) -> str:
    """From which layer on the answer is there, at a step (from 1), in a sentence."""
    layer, text = found.since()[step - 1], trace.predicted[step - 1].text
    if layer is None:
        return f"‘{text}’ is not the likeliest piece even after the last layer: rank {found.rank[-1, step - 1]}."
    if layer == 0:
        return f"‘{text}’ is the likeliest piece already before the first layer, and stays so."
    return f"‘{text}’ is the likeliest piece from layer {layer} on."


def table(found: Lens, trace: Trace, names: Sequence[str]) -> pd.DataFrame:
    """A line for each layer and step."""
    rows = row_names(found)
    return pd.DataFrame(
        {
            "step": step + 1,
            "read": trace.read[step].text,
            "predicts": trace.predicted[step].text,
            "layer": rows[depth],
            "likeliest": names[found.top[depth, step]],
            "its probability": found.top_probability[depth, step],
            "rank of the written": found.rank[depth, step],
            "probability of the written": found.probability[depth, step],
        }
        for step in range(found.top.shape[1])
        for depth in range(len(rows))
    )
