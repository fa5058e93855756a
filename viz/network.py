"""The drawing of the network: every box, what it does, and this sentence's shape on every arrow.

After figure 1 of Vaswani et al. 2017. Where the boxes stand, canvas/network.js knows.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from model.config import ModelConfig
from model.parameters import Counts
from model.trace import Trace
from viz import phrases
from viz.payload import pack, texts
from viz.theme import MARKS, Theme, for_canvas

# Name in the address -> what stands on the switch.
FLOW = {
    "whole": "the whole",
    "vectors": "1 into vectors",
    "encoder": "2 encoder",
    "decoder": "3 decoder",
    "output": "4 output",
}
PARTS = {
    "embedding": "embedding, and output matrix",
    "encoder_positions": "positions of the encoder",
    "decoder_positions": "positions of the decoder",
    "encoder": "encoder self-attention",
    "encoder_feed_forward": "feed-forward of the encoder",
    "encoder_norms": "LayerNorms of the encoder",
    "masked": "masked self-attention",
    "cross": "cross-attention",
    "decoder_feed_forward": "feed-forward of the decoder",
    "decoder_norms": "LayerNorms of the decoder",
}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU"}
NOTES = {
    "post": "Add & norm: the sum is normalised after each sub-layer, as in the paper.",
    "pre": "In this model a LayerNorm stands before each sub-layer, and one more at the end of each side.",
}


@dataclass(frozen=True)
class Sizes:
    """The letters on the arrows, for one sentence."""

    S: int  # source tokens, </s> included
    T: int  # target tokens that the decoder reads, <s> included
    D: int  # numbers in a token's vector
    H: int  # heads
    K: int  # width of a head
    F: int  # neurons of a feed-forward
    V: int  # pieces in the vocabulary


@dataclass(frozen=True)
class Box:
    """One box of the drawing. Its name is that of its door as well."""

    name: str
    title: str
    does: str  # in one line
    flow: str  # the step that it belongs to
    side: str  # encoder or decoder
    out: str = ""  # shape on the arrow that leaves it
    shape: str = ""  # inside the box: what it makes on the way
    part: str = ""  # in PARTS, if it has parameters


def sizes(trace: Trace) -> Sizes:
    """Every size, read off the tensors of this run."""
    T, S, K = trace.shape
    _, D = trace.tensors["encoder.memory_tap"].shape
    F = trace.tensors["encoder.layers.1.feed_forward.hidden_tap"].shape[-1]
    return Sizes(S, T, D, trace.heads("cross"), K, F, trace.logits.shape[-1])


def boxes(trace: Trace, config: ModelConfig) -> list[Box]:
    """Every box in the order in which data flows, encoder first."""
    n = sizes(trace)
    return [*_encoder(n, config), *_decoder(n, config), *_output(n)]


def _encoder(n: Sizes, config: ModelConfig) -> list[Box]:
    looks = f"Each of the {n.S} tokens looks at all {n.S} and fetches what it needs, in {n.H} heads."
    return [
        *_into_vectors("encoder", f"The sentence, cut into {n.S} tokens, </s> included.", n.S, n),
        _attention("encoder", "Self-attention", looks, (n.H, n.S, n.S), _by(n.S, n.D)),
        _norm("encoder", 1, _by(n.S, n.D), config),
        _feed_forward("encoder", n.S, n, config),
        _norm("encoder", 2, _by(n.S, n.D), config),
    ]


def _decoder(n: Sizes, config: ModelConfig) -> list[Box]:
    back = f"Each of the {n.T} tokens looks at itself and at what was written before it, never ahead."
    across = f"Each of the {n.T} tokens asks the encoder's memory: queries from here, keys and values from there."
    stream = _by(n.T, n.D)
    return [
        *_into_vectors("decoder", f"The {n.T} tokens that it reads: the translation, shifted right by <s>.", n.T, n),
        _attention("masked", "Masked self-attention", back, (n.H, n.T, n.T), stream),
        _norm("decoder", 1, stream, config),
        _attention("cross", "Cross-attention", across, (n.H, n.T, n.S), stream),
        _norm("decoder", 2, stream, config),
        _feed_forward("decoder", n.T, n, config),
        _norm("decoder", 3, stream, config),
    ]


def _output(n: Sizes) -> list[Box]:
    matrix = f"Each vector times the embedding matrix, the same as below: a logit for each of {n.V:,} pieces."
    softmax = "Logits become probabilities: above 0, and each row sums to 1."
    taken = "One piece is taken from each row, and read in the row that follows."
    return [
        Box("linear", "Output matrix", matrix, "output", "decoder", out=_by(n.T, n.V), part="embedding"),
        Box("softmax", "Softmax", softmax, "output", "decoder", out=_by(n.T, n.V)),
        Box("written", "writes", taken, "output", "decoder"),
    ]


def _into_vectors(side: str, reads: str, length: int, n: Sizes) -> list[Box]:
    stream = _by(length, n.D)
    looked_up = f"Each id picks its row of the {n.V:,} × {n.D} matrix, which is multiplied by √{n.D}."
    added = "Where a token stands is added to its vector: attention by itself knows no order."
    return [
        Box(f"{side}_tokens", "reads", reads, "vectors", side, out=f"{length} ids"),
        Box(f"{side}_embedding", "Embedding", looked_up, "vectors", side, out=stream, part="embedding"),
        Box(f"{side}_positions", "+ positions", added, "vectors", side, out=stream, part=f"{side}_positions"),
    ]


def _attention(kind: str, title: str, does: str, weights: tuple[int, int, int], stream: str) -> Box:
    side = "encoder" if kind == "encoder" else "decoder"
    return Box(kind, f"{MARKS[kind]} {title}", does, side, side, out=stream, shape=_by(*weights), part=kind)


def _norm(side: str, number: int, stream: str, config: ModelConfig) -> Box:
    title = "Add & norm" if config.norm == "post" else "Add"
    does = "What it found plus what came in, the residual path"
    post = "; then mean 0, variance 1, times a learned gain, plus a learned bias."
    normed = post if config.norm == "post" else ". The LayerNorm came before."
    return Box(f"{side}_norm_{number}", title, does + normed, side, side, out=stream, part=f"{side}_norms")


def _feed_forward(side: str, length: int, n: Sizes, config: ModelConfig) -> Box:
    does = f"Each position by itself: {n.F:,} neurons, {ACTIVATIONS[config.activation]}, and back to {n.D} numbers."
    name = f"{side}_feed_forward"
    return Box(name, "Feed-forward", does, side, side, out=_by(length, n.D), shape=_by(length, n.F), part=name)


def payload(
    trace: Trace, counts: Counts, config: ModelConfig, *, theme: Theme, flow: str, doors: Mapping[str, str]
) -> bytes:
    """For canvas/network.js. flow: a name in FLOW; doors: for boxes that lead to a page its title."""
    header: dict[str, Any] = {
        "theme": for_canvas(theme),
        "sizes": asdict(sizes(trace)),
        "boxes": [_drawn(box, counts, config, doors) for box in boxes(trace, config)],
        "layers": {"encoder": trace.layers("encoder"), "decoder": trace.layers("cross")},
        "flow": flow,
        "names": FLOW,
        "said": said(trace)[flow],
        "tokens": {
            "encoder_tokens": texts(trace.source),
            "decoder_tokens": texts(trace.read),
            "written": texts(trace.predicted),
        },
        "parts": [
            {"label": PARTS[name], "count": count, "kind": name if name in MARKS else "", "name": name}
            for name, count in counts.parts.items()
        ],
        "total": counts.total,
        "note": NOTES[config.norm],
    }
    return pack(header, {})


def _drawn(box: Box, counts: Counts, config: ModelConfig, doors: Mapping[str, str]) -> dict[str, Any]:
    learned = {"parameters": parameters(box, counts, config), "door": doors.get(box.name, "")}
    return asdict(box) | learned | {"kind": box.name if box.name in MARKS else ""}


def parameters(box: Box, counts: Counts, config: ModelConfig) -> str:
    """How many numbers the box has learned, in words."""
    if not box.part:
        return ""
    total = counts.parts[box.part]
    if not total:
        return "nothing learned: sines and cosines"
    if box.part == "embedding":
        return f"{total:,} parameters, one matrix for both languages and for the output"
    if box.part.endswith("positions"):
        return f"{total:,} parameters"
    layers = config.encoder_layers if box.side == "encoder" else config.decoder_layers
    return f"{total:,} parameters in {_layers(layers)}"


def said(trace: Trace) -> dict[str, str]:
    """For each step of the flow what happens, in this sentence's numbers."""
    n = sizes(trace)
    hidden = int((~trace.map("masked", 1, 1).allowed).sum())
    first = phrases.weight(float(np.exp(trace.target_log_probabilities()[0])))
    total = f"{float(trace.target_log_probabilities().sum()):.2f}".replace("-", "−")
    return {
        "whole": (
            f"{n.S} source tokens go up on the encoder's side, {n.T} target tokens on the decoder's; an arrow carries "
            f"{n.D} numbers for each. Point at a box to read it, click to open its page, or walk the four steps."
        ),
        "vectors": (
            f"The sentence becomes {n.S} tokens, </s> included. Each picks its row of {n.D} numbers from the embedding "
            f"matrix, times √{n.D}, and its position is added. The decoder's side does the same with the {n.T} tokens "
            "that it reads, <s> first."
        ),
        "encoder": (
            f"{_layers(trace.layers('encoder'))}. In each, {n.H} heads hold {_by(n.S, n.S)} weights: every token may "
            f"look at every other. Then each passes {n.F:,} neurons by itself. What leaves the last layer is the "
            f"memory, {_by(n.S, n.D)}: computed once, it serves every step."
        ),
        "decoder": (
            f"{_layers(trace.layers('cross'))}. Masked heads hold {_by(n.T, n.T)} weights, {hidden} of them forbidden: "
            f"nothing looks ahead. Cross heads hold {_by(n.T, n.S)}: a row for each step, a column for each source "
            "token."
        ),
        "output": (
            f"Each of the {n.T} vectors gives {n.V:,} logits, of which the softmax makes probabilities. Having read "
            f"‘{trace.read[0].text}’, the model holds ‘{trace.predicted[0].text}’ for {first}; over all steps the "
            f"logarithms sum to {total}."
        ),
    }


def table(counts: Counts) -> pd.DataFrame:
    """The parameters by part."""
    named = [(PARTS[name], count, count / counts.total) for name, count in counts.parts.items()]
    return pd.DataFrame([*named, ("all", counts.total, 1.0)], columns=["part", "parameters", "share"])


def shapes(trace: Trace, config: ModelConfig) -> pd.DataFrame:
    """The drawing as a table: every box with what it makes, what leaves it and what it does."""
    listed = [(box.side, box.title, box.shape, box.out, box.does) for box in boxes(trace, config)]
    return pd.DataFrame(listed, columns=["side", "box", "inside", "leaves it", "what it does"])


def _layers(count: int) -> str:
    return "1 layer" if count == 1 else f"{count} layers"


def _by(*axes: int) -> str:
    return " × ".join(f"{axis:,}" for axis in axes)
