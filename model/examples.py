"""Sentences of our own (examples.txt), translated and read with every neuron on record: what drives a neuron."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from model.capture import prepare
from model.config import BOS, EOS
from model.data import pad
from model.decode import decode
from model.labels import labels
from model.neurons import Recorded
from model.stream import SUBLAYERS
from model.taps import heard
from model.tokenizer import Tokenizer
from model.transformer import Transformer

FILE = Path(__file__).with_suffix(".txt")


def sentences() -> list[str]:
    return FILE.read_text(encoding="utf-8").splitlines()


def record(model: Transformer, tokenizer: Tokenizer, texts: list[str]) -> dict[str, Recorded]:
    """By side, every neuron at every token of these sentences and of the model's own greedy translations.

    All in one padded batch: numbers are those of each sentence alone within 1e-5.
    """
    ids = {"encoder": [[*prepare(tokenizer, text).ids, EOS] for text in texts]}
    ids["decoder"] = [[BOS, *found.ids] for found in decode(model, pad(ids["encoder"]))]
    active: dict[str, np.ndarray] = {}

    def listen(name: str, tensor: Tensor) -> None:
        if name.endswith("active_tap"):
            active[name] = tensor.numpy()

    with torch.inference_mode():
        heard(listen, model, pad(ids["encoder"]), pad(ids["decoder"]))
    return {side: _of_side(tokenizer, side, ids[side], active) for side in SUBLAYERS}


def _of_side(tokenizer: Tokenizer, side: str, ids: list[list[int]], active: dict[str, np.ndarray]) -> Recorded:
    """What was heard on one side, without its padding."""
    own = {}
    for name, rows in active.items():
        if name.startswith(f"{side}."):
            cut = [row[: len(sentence)] for row, sentence in zip(rows, ids, strict=True)]
            own[int(name.split(".")[2])] = np.concatenate(cut)
    return Recorded(tuple(labels(tokenizer, sentence) for sentence in ids), own)
