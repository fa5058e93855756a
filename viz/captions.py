"""The short lines under and beside pictures of heads."""

from collections.abc import Sequence

import numpy as np

from model.trace import AttentionMap, Trace
from viz import phrases

WHY_NO_STAIRCASE = (
    "**Why the staircase, and why only in masked attention.** A row of it stands for a word that is about to be "
    "written: what comes later is not there yet, so in training, where all rows are computed at once, the mask sets "
    "those scores to −∞ before the softmax and their weights are exactly 0. Cross-attention looks at the source, "
    "which is complete before the first German word: nothing in it is the future, so nothing is forbidden. (In a "
    "batch of several sentences the padding of shorter ones is masked there too.) Its keys and values come from the "
    "encoder's memory: computed once, they are the same at every step."
)
LIFTED = (
    "**The mask is lifted.** The same weights and the same translation, but every row may look ahead; a dot marks the "
    "cell that holds the very token which its row is to predict. The model was never trained that way, so this shows "
    "what the mask prevents, not a better model."
)
SPECIAL = {
    "shown": "",
    "hidden": "The columns of <s> and </s> are hidden: rows sum to less than 1.",
    "renormalised": "The columns of <s> and </s> are hidden, and each row is rescaled to sum to 1.",
}
WORD_VECTORS = "The vector of a word is the mean of its pieces' vectors."
STEPS_ARE_WORDS = "A step is a word here; on Translate and Output it is a piece."
STEPS_ARE_PIECES = "A step writes one piece, so steps stay pieces here."
CELLS_ARE_PIECES = (
    "Queries, keys and values belong to pieces: this is the heaviest cell of pieces behind the two words."
)
ROW_WITHOUT_SPECIALS = "<s> and </s> are hidden in the row; the sums above are over the whole row all the same."
SET_IN_PIECES = "An edit sets the heaviest cell of pieces behind the two words."
NEURONS_ARE_OF_PIECES = "Neurons fire for each piece by itself, so tokens stay pieces here."
LINES_ARE_WORDS = "Links join whole words, whatever the switch says; the matrix follows it."
WITHOUT_SCALING = (
    "The sum of many products grows with the width of a head, and a softmax over large numbers puts everything on one "
    "column: its gradient vanishes, and the head stops learning. That is why the sum is divided by √d."
)
HEAD_NUMBERS = (
    "Equal head numbers mean nothing: masked head 2 and cross head 2 have weights of their own and share only "
    "their number."
)

SILENCED_IN_TURN = (
    "Each head silenced by itself, all in one batch, and nothing else edited: red, the translation that the model "
    "writes without edits becomes less probable; blue, more probable."
)
SILENCED_OVER_CORPUS = (
    "Each head silenced by itself, measured over the corpus of the report beside the weights: red, its translations "
    "become less probable; blue, more probable."
)
MEASURES = {
    "raw": "",
    "value": (
        "Value-weighted: weight times the length of f(x), the vector that the head moves from there (Kobayashi et al. "
        "2020), each row rescaled to sum to 1: how much is moved in all does not show."
    ),
    "rollout": (
        "Rollout (Abnar & Zuidema 2020): the layers multiplied, each half the mean of its heads, half residual path; "
        "values, feed-forward and LayerNorm are left out. Cross goes on through the encoder's rollout, without what "
        "comes from target tokens, rows rescaled to 1."
    ),
}
SHIFT = (
    "Step by step over the translation that is there without edits: the bar is how far the edits move the model's "
    "expectation there (Kullback-Leibler divergence; one scale for all edits, square-root spaced, full from 4 bits "
    "on), the numbers are the probability of the piece before and after. A frame: the edited model would write "
    "another piece there."
)
REMOVAL_WAITS = "Choose an order: each head is taken away on top of those before it, which takes about a second."
REMOVAL = (
    "Solid: the heads are silenced one after the other, and stay silenced. Dashed: what their losses alone add up to. "
    "Where the lines part, heads stand in for each other, or need each other."
)


def of_tokens(special: str) -> str:
    """What became of special tokens on an axis that holds no weights."""
    return "" if special == "shown" else "<s> and </s> are hidden."


def of_rows(shown: AttentionMap) -> list[str]:
    """What stands before each row: the token, or in the decoder `read → predicts`."""
    if shown.predicts is None:
        return [token.text for token in shown.rows]
    return [f"{row.text} → {after.text}" for row, after in zip(shown.rows, shown.predicts, strict=True)]


def of_heads(maps: Sequence[AttentionMap], pinned: tuple[int, int] | None, *, by_layer: bool) -> list[str]:
    """Under each thumbnail: its head, or layer·head, and once a cell is pinned its weight there."""
    names = [_short(m, by_layer=by_layer) for m in maps]
    if pinned is None:
        return names
    weights = [phrases.weight(float(m.weights[pinned])).replace("0.", ".", 1) for m in maps]  # short: 56 pixels wide
    return [f"{name} {weight}" for name, weight in zip(names, weights, strict=True)]


def _short(shown: AttentionMap, *, by_layer: bool) -> str:
    if shown.head is None:
        return f"L{shown.layer}"
    return str(shown.head) if by_layer else f"{shown.layer}·{shown.head}"


def of_layers(count: int) -> list[str]:
    return [f"L{layer}" for layer in range(1, count + 1)]


def of_grid(maps: Sequence[AttentionMap], pinned: tuple[int, int] | None, *, ranked: bool) -> str:
    """Under the grid of all heads: how to read it, or who links the pinned row to the pinned column most."""
    if pinned is None:
        return "Colour runs from 0 to 1 on one scale for all heads. Pin a cell of the open head to rank all by it."
    row, column = pinned
    first = maps[0]
    if not first.allowed[row, column]:
        return "The mask forbids this cell in every head."
    best = max(maps, key=lambda m: float(m.weights[row, column]))
    which = phrases.head(best.head, best.measure)
    said = f"‘{first.rows[row].text}’ → ‘{first.columns[column].text}’: most in layer {best.layer}, {which}"
    order = "ranked by that weight" if ranked else "the number beside each head is that weight"
    return f"{said} ({phrases.weight(float(best.weights[row, column]))}); {order}."


def padding(alone: Trace, padded: Trace) -> str:
    """What padding changes: nothing but the columns that are masked. The largest difference is measured here."""
    largest = 0.0
    for kind in ("masked", "cross"):
        rows, columns = alone.weights(kind).shape[-2:]
        difference = padded.weights(kind)[..., :rows, :columns] - alone.weights(kind)
        largest = max(largest, float(np.abs(difference).max()))
    return (
        "**Padding.** In a batch, shorter sentences are filled up with `<pad>`. Those columns are masked on both "
        "sides, in cross-attention as well: that it has no mask is true for one sentence only. Between this pass and "
        f"the one without padding no weight differs by more than {largest:.1e}."
    )


def written_lifted(text: str | None, trained: str) -> str:
    """What comes out if the model writes with the mask lifted, beside what it writes as trained."""
    if text is None:
        return "Writing with the mask lifted computes every row anew at each step; this sentence is too long for that."
    lifted = f"With the mask lifted, every row computed anew at each step:  {text or '(nothing)'}"
    return f"As trained:  {trained}\n{lifted}"
