"""What is kept between reruns: the model, and what it made of recent sentences."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts.line import Line

if TYPE_CHECKING:  # torch takes a second and a half to import: the title is painted first
    from model.decode import Hypothesis
    from model.editing import Means
    from model.edits import Edit
    from model.pieces import Piece
    from model.trace import Candidate, Trace

WEIGHTS = Path(__file__).resolve().parents[2] / "weights" / "en-de"
CANDIDATES = 5  # what else the model considered, at each step
LONGEST_UNCACHED = 40  # pieces of a source that is translated without a cache
KEPT = 16  # readings; one of 15 + 15 pieces takes 3 MB, one of 257 + 257 about 90 MB


@dataclass(frozen=True)
class Reading:
    """One sentence, read by the model: its translation, and everything on the way there."""

    trace: "Trace"
    candidates: "list[list[Candidate]]"
    left_out: str  # of the sentence, beyond the limit
    target_left_out: str
    forced: bool  # the translation is the reader's
    own: "Hypothesis | None"  # the model's own translation; None where writing it would take too long
    decoding: dict[str, Any]  # how that was written
    ended: bool  # with </s>, not at the length limit
    source_ids: tuple[int, ...]  # without specials
    target_ids: tuple[int, ...]
    edits: str = ""  # that were carried out, as in model/editlist.py
    unedited_ids: tuple[int, ...] = ()  # of the translation that is there without edits

    @property
    def own_score(self) -> float | None:
        """ln P of the model's own translation, if it was written."""
        return None if self.own is None else self.own.log_probability

    @property
    def run(self) -> "Run":
        """Which run of the model this is."""
        return Run(self.source_ids, self.edits, self.unedited_ids)


@dataclass(frozen=True)
class Run:
    """What a run of the model depends on, besides the translation that is read in it: part of a cache's key."""

    source: tuple[int, ...]
    edits: str
    reference: tuple[int, ...]  # a head held at its mean has that of the unedited run over this translation


@st.cache_resource(show_spinner=False)
def loaded(folder: Path) -> Any:
    """Model and tokenizer of a weights folder. Raises CheckpointError, which is not cached."""
    import torch

    from model import checkpoint

    # On one sentence a second thread gains nothing, and on a busy machine all wait for it: ten times slower when tried.
    torch.set_num_threads(1)
    return checkpoint.load(folder)


def lifted(found: Reading) -> "Trace":
    """The same sentence and translation in one pass with the decoder's mask lifted."""
    return edited(found, "lift_mask")


def padded(found: Reading, padding: int) -> "Trace":
    """The same pass with this many <pad> on both sides, or fewer where the model has no more positions."""
    from model.config import MAX_PIECES

    padding = min(padding, MAX_PIECES - max(len(found.source_ids), len(found.target_ids)))
    return _again(WEIGHTS, found.run, found.target_ids, "", padding=padding)


def edited(found: Reading, edits: str) -> "Trace":
    """The same sentence and translation in one pass under these edits, too, written as in model/editlist.py."""
    return _again(WEIGHTS, found.run, found.target_ids, edits, padding=0)


def unedited(found: Reading) -> "Trace":
    """The run without edits, over the translation that is there without them."""
    run = Run(found.source_ids, "", found.unedited_ids)
    return _again(WEIGHTS, run, found.unedited_ids, "", padding=0) if found.edits else found.trace


def over_the_unedited(found: Reading) -> "Trace":
    """The run under edits over the translation that is there without them."""
    return _again(WEIGHTS, found.run, found.unedited_ids, "", padding=0)


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def _again(folder: Path, run: Run, target: tuple[int, ...], more_edits: str, *, padding: int) -> "Trace":
    from model import capture

    model, tokenizer = loaded(folder)
    with queue():
        edits, means = edits_of(model, run, more_edits)
        return capture.trace_of(model, tokenizer, run.source, target, edits=edits, means=means, padding=padding)


def edits_of(model: Any, run: Run, more_edits: str = "") -> "tuple[tuple[Edit, ...], Means | None]":
    """The edits of a run, and the means that some of them need."""
    from model import editlist, what_if

    edits = (*editlist.parsed(run.edits), *editlist.parsed(more_edits))
    means = what_if.means_of(model, run.source, run.reference) if editlist.need_means(edits) else None
    return edits, means


def pieces(found: Reading) -> "dict[str, tuple[Piece, ...]]":
    """What the encoder and what the decoder reads, piece by piece."""
    from model import pieces

    _, tokenizer = loaded(WEIGHTS)
    both = {"encoder": found.trace.source, "decoder": found.trace.read}
    return {side: pieces.pieces(tokenizer, tokens) for side, tokens in both.items()}


@st.cache_resource(show_spinner=False)
def queue() -> Line:
    """One sentence is computed at a time; the others wait in line."""
    return Line()


@st.cache_resource(show_spinner=False)
def long_queue() -> Line:
    """The same for what takes seconds, so that no sentence waits for it."""
    return Line()


def usable(edits: str) -> tuple[str, list[str]]:
    """The edits that the model has a place for, and a sentence for each other. Raises CheckpointError."""
    from model import editlist

    model, _ = loaded(WEIGHTS)
    kept, complaints = editlist.usable(editlist.parsed(edits), model.config)
    return editlist.text(kept), complaints


def reading(sentence: str, target: str, decoding: dict[str, Any], edits: str = "") -> Reading:
    """The reading of a sentence under usable edits; a translation that is not forced is written anew under them.

    Raises CheckpointError for unusable weights, InputError for unusable text.
    """
    options = tuple(sorted(decoding.items()))
    original = _reading(WEIGHTS, sentence, target, options)
    if not edits:
        return original
    run = Run(original.source_ids, edits, original.target_ids)
    return replace(original, edits=edits, **_under_edits(WEIGHTS, run, options, forced=original.forced))


@st.cache_resource(show_spinner=False, max_entries=KEPT // 2)
def _under_edits(folder: Path, run: Run, options: tuple[tuple[str, Any], ...], *, forced: bool) -> dict[str, Any]:
    """The fields of a reading that edits change."""
    from model import capture, what_if
    from model.decode import Decoding
    from model.edits import LiftMask
    from model.labels import candidates

    model, tokenizer = loaded(folder)
    with queue():
        edits, means = edits_of(model, run)
        own, target = None, run.reference
        if LiftMask() not in edits or len(run.source) <= LONGEST_UNCACHED:
            own = what_if.write_edited(model, run.source, edits, decoding=Decoding(**dict(options)), means=means)
            target = run.reference if forced else own.ids
        trace = capture.trace_of(model, tokenizer, run.source, target, edits=edits, means=means)
        considered = candidates(tokenizer, trace, CANDIDATES)
    changed = {"trace": trace, "candidates": considered, "target_ids": target}
    return changed | {"own": own, "ended": own.ended if own else True}


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def _reading(folder: Path, sentence: str, target: str, options: tuple[tuple[str, Any], ...]) -> Reading:
    from model import capture
    from model.decode import Decoding
    from model.labels import candidates

    model, tokenizer = loaded(folder)
    with queue():
        source = capture.prepare(tokenizer, sentence)
        own = capture.translate_ids(model, source, Decoding(**dict(options)))
        forced = capture.prepare(tokenizer, target, what="target") if target.strip() else None
        target_ids = forced.ids if forced else own.ids
        trace = capture.trace_of(model, tokenizer, source.ids, target_ids)
        considered = candidates(tokenizer, trace, CANDIDATES)
    return Reading(
        trace=trace,
        candidates=considered,
        left_out=source.left_out,
        target_left_out=forced.left_out if forced else "",
        forced=forced is not None,
        own=own,
        decoding=dict(options),
        ended=own.ended,
        source_ids=source.ids,
        target_ids=target_ids,
        unedited_ids=target_ids,
    )
