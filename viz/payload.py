"""Bytes for a canvas: uint32 length | JSON header | arrays, each aligned to its item size, described in the header."""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model.alignment import Link
from model.trace import Array, AttentionMap, Candidate, Token, Trace
from model.words import word_groups, words
from viz import phrases, thumbnails
from viz.theme import Theme, for_canvas

ALIGNMENT = 4  # bytes; a Float32Array cannot begin anywhere else


def pack(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Header and arrays (uint8, uint16 or float32) as one message; canvas/common.js unpacks it."""
    body, described = b"", {}
    for name, array in arrays.items():
        if array.dtype not in (np.uint8, np.uint16, np.float32):
            raise TypeError(f"array {name} is {array.dtype}; a canvas reads uint8, uint16 or float32")
        described[name] = {"dtype": array.dtype.name, "shape": array.shape, "offset": len(body)}
        raw = np.ascontiguousarray(array).tobytes()
        body += raw + b"\0" * (-len(raw) % ALIGNMENT)
    said = json.dumps({**header, "arrays": described}, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    said += b" " * (-(len(said) + 4) % ALIGNMENT)
    return struct.pack("<I", len(said)) + said + body


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """The inverse of pack."""
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    arrays = {}
    for name, said in header.pop("arrays").items():
        count = int(np.prod(said["shape"]))
        flat = np.frombuffer(message, said["dtype"], count, offset=4 + length + said["offset"])
        arrays[name] = flat.reshape(said["shape"])
    return header, arrays


def texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def grid(
    heads: Sequence[AttentionMap],
    *,
    theme: Theme,
    opened: int | None,
    pinned: tuple[int, int] | None,
    linear: bool,
    per_row: int,
    captions: Sequence[str],
    row_labels: Sequence[str] = (),
    order: Sequence[int] | None = None,
    size: int = 120,
) -> bytes:
    """Thumbnails of many heads, at most `size` pixels wide. `opened` is the index of the marked one, if any.

    They are drawn in `order`, `per_row` in a row where there is room; heads may differ in kind and size. They carry
    shades, not weights: nothing is read off a thumbnail but which head it is.
    """
    cells, arrays = thumbnails.packed(heads, linear=linear)
    entries = [
        {"kind": m.kind, "layer": m.layer, "head": m.head, "name": phrases.head(m.head, m.measure), "caption": c} | said
        for m, c, said in zip(heads, captions, cells, strict=True)
    ]
    header = {
        "theme": for_canvas(theme),
        "heads": entries,
        "opened": opened,
        "pinned": pinned,
        "perRow": per_row,
        "rowLabels": list(row_labels),
        "size": size,
        "order": list(order if order is not None else range(len(heads))),
    }
    return pack(header, arrays)


def head(
    opened: AttentionMap,
    *,
    theme: Theme,
    pinned: tuple[int, int] | None,
    linear: bool,
    lines: bool,
    hint: str = "Point at a cell to read it; click to pin it and rank all heads by it.",
    row: int | None = None,
) -> bytes:
    """One head, large, with its numbers in full float32. hint: what is said while nothing is pointed at.

    row, from 0: with which row a narrow screen begins, where no cell is pinned; None: the one with the largest weight.
    """
    header = {"theme": for_canvas(theme), "map": described(opened), "pinned": pinned, "linear": linear, "lines": lines}
    return pack(header | {"hint": hint, "row": row}, numbers("", opened))


def described(shown: AttentionMap) -> dict[str, Any]:
    return {
        "kind": shown.kind,
        "layer": shown.layer,
        "head": phrases.head(shown.head, shown.measure),
        "rows": texts(shown.rows),
        "columns": texts(shown.columns),
        "predicts": None if shown.predicts is None else texts(shown.predicts),
        "special": [token.special for token in shown.columns],
        "sentence": phrases.BY_MEASURE[shown.measure][shown.kind],
        "forbidden": phrases.FORBIDDEN,
    }


def numbers(prefix: str, shown: AttentionMap) -> dict[str, Array]:
    return {
        f"{prefix}weights": shown.weights.astype(np.float32),
        f"{prefix}allowed": shown.allowed.astype(np.uint8),
    }


def translation(
    trace: Trace,
    links: Sequence[Link],
    considered: Sequence[Sequence[Candidate]],
    *,
    theme: Theme,
    step: int,
    forced: bool = False,
) -> bytes:
    """The translation with its alternatives and alignment. step counts from 1; a row of candidates for each step.

    forced: the reader gave the translation, and the model only reads it.
    """
    chances, entropies = np.exp(trace.target_log_probabilities()), trace.entropy()
    word_of = {i: word for word, group in enumerate(word_groups(trace.predicted)) for i in group}
    pieces = [
        {
            "text": predicted.text,
            "read": read.text,
            "word": word_of[index],
            "probability": float(chances[index]),
            "entropy": float(entropies[index]),
            "considered": [[c.text, c.probability, c.written] for c in considered[index]],
        }
        for index, (read, predicted) in enumerate(zip(trace.read, trace.predicted, strict=True))
    ]
    header = {
        "theme": for_canvas(theme),
        "source": texts(words(trace.source)),
        "pieces": pieces,
        "links": [{"source": link.source, "target": link.target, "strength": link.strength} for link in links],
        "step": step,
        "forced": forced,
    }
    return pack(header, {})
