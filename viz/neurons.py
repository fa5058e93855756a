"""Neurons of a feed-forward: the hidden layer as a square, what drives one of them, and what it pushes."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.neurons import Place, Recorded, Weights, added, gelu, relu
from model.trace import Array, Token
from model.words import word_groups
from viz import curves, field
from viz.inside import signed
from viz.payload import texts
from viz.theme import Theme

FUNCTIONS = {"relu": "ReLU", "gelu": "GELU"}
BARE_SPACE = "␣"  # how a space that is a piece of its own is labelled
BYTE = re.compile("0x[0-9A-F]{2}")  # and one that stands for a byte
SPAN = 6.0  # of the two functions' picture, on both sides of 0; beyond it they are straight lines
PUSHES = {
    "decoder": (
        "Push: the neuron's column of W_out times the row of the output matrix for that piece, so what it adds to "
        "the piece's score when it fires with 1. That is exact only if nothing came after it. After the last layer "
        "there is a LayerNorm; the second column, which is there only then, takes it into account: it is the "
        "neuron's part of the score at this token. (All neurons' parts add up to the score with those of b_out, of "
        "the residual path and of LayerNorm's bias.) After earlier layers whole layers follow, which may use the "
        "neuron otherwise or undo it."
    ),
    "encoder": (
        "An encoder neuron has no direct path to the vocabulary: what it adds goes into the memory, and the decoder "
        "sees that only through keys and values of its cross-attention. So nothing is drawn here."
    ),
}
HOW_TO_READ = (
    "A cell is a neuron and chooses it. Neighbours have nothing in common: the order of neurons means nothing."
)
FUNCTIONS_READ = (
    "First, both functions, and where this neuron stands at this token; then, how many of all neurons stand where. "
    "ReLU gives exactly 0 below 0; GELU, of later models, lets a little of what is below 0 through, so nothing is "
    "quite silent."
)
SENTENCES = {
    "encoder": "",
    "decoder": "They are the model's own translations: the token in brackets was read, the next one is predicted.",
}


def width(count: int) -> int:
    """Neurons in a row of the square."""
    return math.ceil(count**0.5)


def square(before: Array, after: Array, *, theme: Theme, activation: str, neuron: int) -> bytes:
    """The hidden layer of one position, before and after its activation, (F,) each, row after row. neuron from 1."""
    across = width(len(after))
    rows = math.ceil(len(after) / across)
    there = np.arange(rows * across).reshape(rows, across) < len(after)
    folded = np.pad(after.astype(np.float32), (0, there.size - len(after))).reshape(there.shape)
    ends = [min((row + 1) * across, len(after)) for row in range(rows)]
    return field.payload(
        folded,
        rows=[f"{row * across + 1}–{end}" for row, end in enumerate(ends)],
        columns=[str(number) for number in range(1, across + 1)],
        theme=theme,
        hue="signed" if after.min() < 0 else "chrome",
        limit=field.round_limit(after),
        sentence="{name}",
        title="The hidden layer: a cell is a neuron, blank where it is silent",
        row_title=f"neurons, {across} in a row",
        pinned=divmod(neuron - 1, across),
        stays=True,
        allowed=there,
        forbidden="there is no neuron here",
        names=[*of_neurons(before, after, activation), *[""] * (there.size - len(after))],
    )


def of_neurons(before: Array, after: Array, activation: str) -> list[str]:
    """What each neuron does at one position."""
    name = FUNCTIONS[activation]
    return [
        f"neuron {n}: {signed(float(x))} before {name}, {signed(float(y)) if y else '0, silent,'} after it"
        for n, (x, y) in enumerate(zip(before, after, strict=True), start=1)
    ]


def of_position(after: Array, text: str) -> str:
    """How many neurons fire at one position."""
    fire = int((after != 0).sum())
    return f"At ‘{text}’ {fire} of {len(after)} neurons fire ({100 * fire / len(after):.0f} %)."


def pinned(row: int, column: int, count: int) -> int | None:
    """The neuron of a cell, all from 1; None behind the last."""
    number = (row - 1) * width(count) + column
    return number if number <= count else None


def sparsity(shares: Array, tokens: Sequence[Token], *, theme: Theme, position: int, layer: int) -> bytes:
    """The share (L, T) of neurons that fire. position and layer count from 1."""
    return field.payload(
        shares.T,
        rows=texts(tokens),
        columns=of_layers(len(shares)),
        theme=theme,
        hue="chrome",
        limit=field.round_limit(shares),
        sentence="‘{row}’ ({row_number}), {column}: {value} of all neurons are not 0",
        title="How sparse: the share of neurons that fire",
        row_title="token",
        column_title="layer",
        pinned=(position - 1, layer - 1),
        stays=True,
    )


def share_table(shares: Array, tokens: Sequence[Token]) -> pd.DataFrame:
    """The same shares."""
    return field.table(shares.T, texts(tokens), of_layers(len(shares)))


def of_layers(count: int) -> list[str]:
    return [f"layer {n}" for n in range(1, count + 1)]


def along(values: Array, tokens: Sequence[Token], *, theme: Theme, neuron: int, position: int) -> bytes:
    """One neuron at every token (T,) of the sentence. position and neuron count from 1."""
    return curves.payload(
        [curves.Series(f"neuron {neuron}", np.arange(1.0, len(values) + 1), values, "ink", dots=True)],
        theme=theme,
        x_title="token",
        y_title=f"activation of neuron {neuron}",
        x_labels={float(n): token.text for n, token in enumerate(tokens, start=1)},
        marked=position,
        stays=True,
        sentence="{x}: {values}",
        height=220,
    )


def functions(*, theme: Theme, before: float, neuron: int) -> bytes:
    """ReLU beside GELU, with the place of one neuron's pre-activation."""
    x = np.round(np.arange(-SPAN, SPAN + 0.05, 0.1), 1)
    return curves.payload(
        [curves.Series("ReLU", x, relu(x), "ink"), curves.Series("GELU", x, gelu(x), "chrome", dashed=True)],
        theme=theme,
        x_title="before",
        y_title="after the activation",
        notes={float(np.clip(before, -SPAN, SPAN)): f"neuron {neuron}: {signed(before)}"},
        height=240,
    )


def histogram(before: Array, *, theme: Theme) -> bytes:
    """How many of one position's neurons (F,) have which pre-activation; the outermost bins hold those beyond, too."""
    edges = np.arange(-SPAN, SPAN + 0.25, 0.5)
    counts, _ = np.histogram(np.clip(before, -SPAN, SPAN - 1e-6), bins=edges)
    return curves.payload(
        [curves.Series("neurons", edges[:-1] + 0.25, counts.astype(float), "chrome", dots=True)],
        theme=theme,
        x_title="before",
        y_title="neurons of this token, in steps of 0.5",
        notes={0.0: "left of 0, ReLU leaves nothing"},
        height=200,
    )


def strongest(numbers: Sequence[int], before: Array, after: Array, found: Weights) -> pd.DataFrame:
    """These neurons (from 1) of one position: before and after the activation, and the length of what each adds."""
    index = np.array(numbers, dtype=int) - 1
    columns = {"before": before, "after": after, "length of what it adds": added(after, found)}
    return pd.DataFrame({"neuron": list(numbers)} | {name: v[index].astype(float) for name, v in columns.items()})


def driving(places: Sequence[tuple[Place, float]], found: Recorded) -> pd.DataFrame:
    """Where a neuron fires most, a line for each place: how much, at which token, and in which sentence."""
    told = [(value, found.sentences[place.sentence], place.position) for place, value in places]
    return pd.DataFrame(
        {
            "activation": [value for value, _, _ in told],
            "token": [sentence[position].text for _, sentence, position in told],
            "in": [in_context(sentence, position) for _, sentence, position in told],
        }
    )


def in_context(sentence: Sequence[Token], position: int) -> str:
    """The sentence, with the token at this position (from 0) in brackets; specials only if it is one of them."""
    said = ""
    for group in word_groups(sentence):
        if any(BYTE.fullmatch(sentence[index].text) for index in group):  # nobody reads bytes: the whole word
            parts = [(sentence[group[0]].word, position in group)]
        else:
            parts = [(_plain(sentence[index], bare=index != position), index == position) for index in group]
        if sentence[group[0]].special and position not in group:
            continue
        close = sentence[group[0]].is_punctuation or not said
        said += ("" if close else " ") + "".join(f"[{text}]" if chosen else text for text, chosen in parts)
    return said


def _plain(token: Token, *, bare: bool) -> str:
    """A piece without the mark that it goes on with a word; a bare space is none, if asked."""
    text = token.text[1:] if token.continues else token.text
    return "" if text == BARE_SPACE and bare else text


def pushed(ids: Sequence[int], names: Sequence[str], push: Array, here: Array | None) -> pd.DataFrame:
    """These pieces of the vocabulary: what a neuron adds to their score when it fires with 1, and as it fires here."""
    made = {"piece": [names[i] for i in ids], "push": [float(push[i]) for i in ids]}
    if here is not None:
        made["adds to its score here"] = [float(here[i]) for i in ids]
    return pd.DataFrame(made)
