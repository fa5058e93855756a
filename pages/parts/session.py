"""What is kept between reruns: the model, and what it made of recent sentences. The only caching there is."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:  # torch takes a second and a half to import: the title is painted first
    from model.inside import OutputProjection
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
    own_score: float  # ln P of the model's own translation
    ended: bool  # with </s>, not at the length limit
    source_ids: tuple[int, ...]  # without specials
    target_ids: tuple[int, ...]


@st.cache_resource(show_spinner=False)
def loaded(folder: Path) -> Any:
    """Model and tokenizer of a weights folder. Raises CheckpointError, which is not cached."""
    from model import checkpoint

    return checkpoint.load(folder)


def lifted(found: Reading) -> "Trace":
    """The same sentence and translation in one pass with the decoder's mask lifted."""
    return _again(WEIGHTS, found.source_ids, found.target_ids, lift=True, padding=0)


def padded(found: Reading, padding: int) -> "Trace":
    """The same pass with this many <pad> on both sides, or fewer where the model has no more positions."""
    from model.config import MAX_PIECES

    padding = min(padding, MAX_PIECES - max(len(found.source_ids), len(found.target_ids)))
    return _again(WEIGHTS, found.source_ids, found.target_ids, lift=False, padding=padding)


@st.cache_resource(show_spinner=False, max_entries=KEPT // 2)
def _again(folder: Path, source: tuple[int, ...], target: tuple[int, ...], *, lift: bool, padding: int) -> "Trace":
    from model import capture
    from model.edits import LiftMask

    model, tokenizer = loaded(folder)
    with _queue():
        edits = (LiftMask(),) if lift else ()
        return capture.trace_of(model, tokenizer, source, target, edits=edits, padding=padding)


def written_lifted(found: Reading) -> str | None:
    """What the model writes with the mask lifted; None where that would take too long, uncached as it is."""
    if len(found.source_ids) > LONGEST_UNCACHED:
        return None
    return _written_lifted(WEIGHTS, found.source_ids)


@st.cache_resource(show_spinner=False, max_entries=256)
def _written_lifted(folder: Path, source: tuple[int, ...]) -> str:
    from model.edits import LiftMask, write_edited

    model, tokenizer = loaded(folder)
    with _queue():
        return str(tokenizer.decode(write_edited(model, source, (LiftMask(),)).ids))


def output_projection(kind: str, layer: int) -> "OutputProjection":
    """W^O of one attention of the shipped model, cut into its heads."""
    return _output_projection(WEIGHTS, kind, layer)


@st.cache_resource(show_spinner=False)
def _output_projection(folder: Path, kind: str, layer: int) -> "OutputProjection":
    from model import inside

    model, _ = loaded(folder)
    return inside.output_projection(model, kind, layer)


@st.cache_resource(show_spinner=False)
def _queue() -> threading.Lock:
    """One sentence is computed at a time: torch already uses every core."""
    return threading.Lock()


def reading(sentence: str, target: str, decoding: dict[str, Any]) -> Reading:
    """The reading of a sentence. Raises CheckpointError for unusable weights, InputError for unusable text."""
    return _reading(WEIGHTS, sentence, target, tuple(sorted(decoding.items())))


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def _reading(folder: Path, sentence: str, target: str, options: tuple[tuple[str, Any], ...]) -> Reading:
    from model import capture
    from model.decode import Decoding
    from model.labels import candidates

    model, tokenizer = loaded(folder)
    with _queue():
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
        own_score=own.log_probability,
        ended=own.ended,
        source_ids=source.ids,
        target_ids=target_ids,
    )
