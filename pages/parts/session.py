"""What is kept between reruns: the model, and what it made of recent sentences. The only caching there is."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:  # torch takes a second and a half to import: the title is painted first
    from model.trace import Candidate, Trace

WEIGHTS = Path(__file__).resolve().parents[2] / "weights" / "en-de"
CANDIDATES = 5  # what else the model considered, at each step
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


@st.cache_resource(show_spinner=False)
def loaded(folder: Path) -> Any:
    """Model and tokenizer of a weights folder. Raises CheckpointError, which is not cached."""
    from model import checkpoint

    return checkpoint.load(folder)


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
        trace = capture.trace_of(model, tokenizer, source.ids, forced.ids if forced else own.ids)
        considered = candidates(tokenizer, trace, CANDIDATES)
    left_out = forced.left_out if forced else ""
    return Reading(trace, considered, source.left_out, left_out, forced is not None, own.log_probability, own.ended)
