"""What else is tried on a reading, and kept: heads silenced in turn, other decoders, another order, the logit lens."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts import session

if TYPE_CHECKING:
    from model.beams import Tree, Written
    from model.edits import Edit
    from model.importance import Head, Importance, Removal
    from model.lens import Lens
    from model.orders import Orders
    from model.trace import Array, Trace

LONGEST_IN_TURN = 100  # pieces of a sentence whose heads are silenced in turn: a few seconds


def written_lifted(found: session.Reading) -> str | None:
    """What the model writes with the mask lifted; None where that would take too long, uncached as it is."""
    if len(found.source_ids) > session.LONGEST_UNCACHED:
        return None
    return _written_lifted(session.WEIGHTS, found.run)


@st.cache_resource(show_spinner=False, max_entries=256)
def _written_lifted(folder: Path, run: session.Run) -> str:
    from model.what_if import write_anew

    model, tokenizer = session.loaded(folder)
    with session.long_queue():
        edits, means = session.edits_of(model, run, "lift_mask")
        return str(tokenizer.decode(write_anew(model, run.source, edits, means=means).ids))


def importance(found: session.Reading, by: str) -> "Importance | None":
    """What it costs the unedited translation to silence each head; None where the sentence is too long for that."""
    from model.importance import all_heads

    if max(len(found.source_ids), len(found.unedited_ids)) > LONGEST_IN_TURN:
        return None
    return _importance(session.WEIGHTS, found.source_ids, found.unedited_ids, tuple(all_heads(found.trace)), by)


@st.cache_resource(show_spinner=False, max_entries=256)
def _importance(
    folder: Path, source: tuple[int, ...], target: tuple[int, ...], heads: "tuple[Head, ...]", by: str
) -> "Importance":
    from model.importance import Importance, each_alone

    return Importance(heads, _losses(folder, source, target, each_alone(heads, by)))


def removal(found: session.Reading, by: str, order: str, alone: "Importance") -> "Removal":
    """What it costs to silence one head after the other, in this order of their losses alone."""
    heads = tuple(alone.heads[index] for index in alone.ordered(order))
    return _removal(session.WEIGHTS, found.source_ids, found.unedited_ids, heads, by)


@st.cache_resource(show_spinner=False, max_entries=256)
def _removal(
    folder: Path, source: tuple[int, ...], target: tuple[int, ...], heads: "tuple[Head, ...]", by: str
) -> "Removal":
    from model.importance import Removal, one_after_the_other

    return Removal(heads, _losses(folder, source, target, one_after_the_other(heads, by)))


def _losses(
    folder: Path, source: tuple[int, ...], target: tuple[int, ...], lists: "Sequence[Sequence[Edit]]"
) -> "Array":
    """How far ln P of the target falls under each list of edits. All in one batch, the unedited run its first row."""
    from model import what_if
    from model.importance import losses

    model, _ = session.loaded(folder)
    with session.long_queue():
        means = what_if.means_of(model, source, target)
        return losses(what_if.log_probabilities(model, source, target, lists, means=means))


def lens(found: session.Reading) -> "Lens":
    """What is read out after each decoder layer of this reading."""
    return _lens(session.WEIGHTS, found.run, found.target_ids, _trace=found.trace)


@st.cache_resource(show_spinner=False, max_entries=session.KEPT)
def _lens(folder: Path, run: session.Run, target: tuple[int, ...], *, _trace: "Trace") -> "Lens":
    from model import lens

    model, _ = session.loaded(folder)
    return lens.lens(_trace, lens.read_out(model))


def written(found: session.Reading, decoding: dict[str, Any]) -> "Written":
    """What the model writes for this sentence with these settings."""
    if found.own is not None and not found.edits and decoding == found.decoding:  # no need to write it again
        from model import writing
        from model.decode import Decoding

        return writing.told(session.loaded(session.WEIGHTS)[1], found.own, Decoding(**decoding))
    return _searched(session.WEIGHTS, found.run, tuple(sorted(decoding.items())))[0]


def beams(found: session.Reading, width: int) -> "Tree":
    """Every hypothesis that a beam search of this width compares for this sentence."""
    return _searched(session.WEIGHTS, found.run, (("beam", width), ("method", "beam")))[1]


@st.cache_resource(show_spinner=False, max_entries=64)
def _searched(folder: Path, run: session.Run, options: tuple[tuple[str, Any], ...]) -> "tuple[Written, Tree]":
    from model import editing, writing
    from model.decode import Decoding
    from model.edits import LiftMask
    from model.taps import heard

    model, tokenizer = session.loaded(folder)
    with session.long_queue():
        edits, means = session.edits_of(model, run)
        # These decoders keep a cache, which a lifted mask would make worthless: they write with the mask on.
        listener = editing.edited([edit for edit in edits if edit != LiftMask()], means=means)
        return heard(listener, writing.write, model, tokenizer, run.source, Decoding(**dict(options)))


def two_orders(source: tuple[int, ...], order: tuple[int, ...]) -> "tuple[Orders, Orders]":
    """The encoder's vectors of these ids in this order and in another one: with positions, and without."""
    return _two_orders(session.WEIGHTS, source, order)


@st.cache_resource(show_spinner=False, max_entries=session.KEPT)
def _two_orders(folder: Path, source: tuple[int, ...], order: tuple[int, ...]) -> "tuple[Orders, Orders]":
    from model.orders import in_two_orders

    model, _ = session.loaded(folder)
    with session.queue():
        first, second = (in_two_orders(model, source, order, positions=positions) for positions in (True, False))
    return first, second
