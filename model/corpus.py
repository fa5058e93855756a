"""The attention weights of many sentence pairs, in padded batches: one Trace for each pair, cut to what is its own."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from model.capture import WEIGHTS, labelled, refuse_training
from model.config import MAX_PIECES
from model.data import Encoded, Pair, tensors
from model.taps import heard
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer

BATCH = 32


def usable(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[Encoded]:
    """Ids of the pairs that are within the model's limit and have something on both sides."""
    encoded = [(tokenizer.encode(pair.source), tokenizer.encode(pair.target)) for pair in pairs]
    return [both for both in encoded if all(0 < len(ids) <= MAX_PIECES for ids in both)]


def in_batches(encoded: Sequence[Encoded], size: int = BATCH) -> Iterator[list[int]]:
    """Indices of pairs of similar length, shortest first, so that little is padding."""
    order = sorted(range(len(encoded)), key=lambda index: (len(encoded[index][0]), len(encoded[index][1])))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def weights_over(
    model: Transformer, tokenizer: Tokenizer, encoded: Sequence[Encoded], *, keep: tuple[str, ...] = WEIGHTS
) -> Iterator[tuple[int, Trace]]:
    """Index and teacher-forced trace (of weights, masks and values those that end with `keep`) of each pair, shortest
    first.

    As `trace_of` would have it of each pair alone, within 1e-6: padding is invisible.
    """
    refuse_training(model)
    for batch in in_batches(encoded):
        kept: dict[str, Array] = {}

        def listen(name: str, tensor: Tensor, kept: dict[str, Array] = kept) -> None:
            if name.endswith(keep):
                kept[name] = tensor.numpy()

        source, read, _ = tensors([encoded[index] for index in batch])
        with torch.inference_mode():
            heard(listen, model, source, read)
        for row, index in enumerate(batch):
            source_ids, target_ids = encoded[index]
            own = {
                name: _own(name, array[row], len(source_ids) + 1, len(target_ids) + 1) for name, array in kept.items()
            }
            yield index, labelled(tokenizer, source_ids, target_ids, own)


def _own(name: str, array: Array, S: int, T: int) -> Array:
    """Without rows and columns of padding; array (H or 1, T or 1, S), or of values (H, S, K), as its tap has it."""
    rows = S if name.startswith("encoder.") else T
    columns = T if name.startswith("decoder.") and ".self_attention." in name else S
    if name.endswith("values_tap"):
        return np.ascontiguousarray(array[:, :columns])
    return np.ascontiguousarray(array[:, :rows, :columns])
