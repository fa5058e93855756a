"""What is kept between reruns: the model, and what it made of recent sentences. The only caching there is."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:  # torch takes a second and a half to import: the title is painted first
    from model import alignment, neurons
    from model.beams import Tree, Written
    from model.config import ModelConfig
    from model.editing import Means
    from model.edits import Edit
    from model.gold import Gold
    from model.importance import Head, Importance, Removal
    from model.inside import OutputProjection
    from model.length_report import LengthReport
    from model.lens import Lens
    from model.orders import Orders
    from model.parameters import Counts
    from model.pieces import Piece
    from model.report import Report
    from model.trace import Array, Candidate, Trace

WEIGHTS = Path(__file__).resolve().parents[2] / "weights" / "en-de"
CANDIDATES = 5  # what else the model considered, at each step
LONGEST_UNCACHED = 40  # pieces of a source that is translated without a cache
LONGEST_IN_TURN = 100  # pieces of a sentence whose heads are silenced in turn: a few seconds
KEPT = 16  # readings; one of 15 + 15 pieces takes 3 MB, one of 257 + 257 about 90 MB


@dataclass(frozen=True)
class Reading:
    """One sentence, read by the model: its translation, and everything on the way there."""

    trace: "Trace"
    candidates: "list[list[Candidate]]"
    left_out: str  # of the sentence, beyond the limit
    target_left_out: str
    forced: bool  # the translation is the reader's
    own_score: float | None  # ln P of the model's own translation; None where writing it would take too long
    ended: bool  # with </s>, not at the length limit
    source_ids: tuple[int, ...]  # without specials
    target_ids: tuple[int, ...]
    edits: str = ""  # that were carried out, as in model/editlist.py
    unedited_ids: tuple[int, ...] = ()  # of the translation that is there without edits

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
    with _queue():
        edits, means = _surgery(model, run, more_edits)
        return capture.trace_of(model, tokenizer, run.source, target, edits=edits, means=means, padding=padding)


def _surgery(model: Any, run: Run, more_edits: str = "") -> "tuple[tuple[Edit, ...], Means | None]":
    """The edits of a run, and the means that some of them need."""
    from model import editlist, what_if

    edits = (*editlist.parsed(run.edits), *editlist.parsed(more_edits))
    means = what_if.means_of(model, run.source, run.reference) if editlist.need_means(edits) else None
    return edits, means


def written_lifted(found: Reading) -> str | None:
    """What the model writes with the mask lifted; None where that would take too long, uncached as it is."""
    if len(found.source_ids) > LONGEST_UNCACHED:
        return None
    return _written_lifted(WEIGHTS, found.run)


@st.cache_resource(show_spinner=False, max_entries=256)
def _written_lifted(folder: Path, run: Run) -> str:
    from model.what_if import write_anew

    model, tokenizer = loaded(folder)
    with _queue():
        edits, means = _surgery(model, run, "lift_mask")
        return str(tokenizer.decode(write_anew(model, run.source, edits, means=means).ids))


def importance(found: Reading, by: str) -> "Importance | None":
    """What it costs the unedited translation to silence each head; None where the sentence is too long for that."""
    from model.importance import all_heads

    if max(len(found.source_ids), len(found.unedited_ids)) > LONGEST_IN_TURN:
        return None
    return _importance(WEIGHTS, found.source_ids, found.unedited_ids, tuple(all_heads(found.trace)), by)


@st.cache_resource(show_spinner=False, max_entries=256)
def _importance(
    folder: Path, source: tuple[int, ...], target: tuple[int, ...], heads: "tuple[Head, ...]", by: str
) -> "Importance":
    from model.importance import Importance, each_alone

    return Importance(heads, _losses(folder, source, target, each_alone(heads, by)))


def removal(found: Reading, by: str, order: str, alone: "Importance") -> "Removal":
    """What it costs to silence one head after the other, in this order of their losses alone."""
    heads = tuple(alone.heads[index] for index in alone.ordered(order))
    return _removal(WEIGHTS, found.source_ids, found.unedited_ids, heads, by)


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

    model, _ = loaded(folder)
    with _queue():
        means = what_if.means_of(model, source, target)
        return losses(what_if.log_probabilities(model, source, target, lists, means=means))


def feed_forward(side: str, layer: int) -> "neurons.Weights":
    """The two linear maps of one feed-forward of the shipped model."""
    return _feed_forward(WEIGHTS, side, layer)


@st.cache_resource(show_spinner=False)
def _feed_forward(folder: Path, side: str, layer: int) -> "neurons.Weights":
    from model import neurons

    model, _ = loaded(folder)
    return neurons.weights(model, side, layer)


def last_norm() -> "neurons.LastNorm":
    """The LayerNorm after which the output matrix of the shipped model reads."""
    return _last_norm(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _last_norm(folder: Path) -> "neurons.LastNorm":
    from model import neurons

    model, _ = loaded(folder)
    return neurons.last_norm(model)


def output_matrix() -> "Array":
    """(V, D) of the shipped model: embedding of both languages, and what reads pieces out of the last vector."""
    return _output_matrix(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _output_matrix(folder: Path) -> "Array":
    from model import neurons

    model, _ = loaded(folder)
    return neurons.embeddings(model)


def examples() -> "dict[str, neurons.Recorded]":
    """By side, every neuron over the built-in sentences: a second or two, once."""
    return _examples(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _examples(folder: Path) -> "dict[str, neurons.Recorded]":
    from model import examples

    model, tokenizer = loaded(folder)
    with _queue():
        return examples.record(model, tokenizer, examples.sentences())


def output_projection(kind: str, layer: int) -> "OutputProjection":
    """W^O of one attention of the shipped model, cut into its heads."""
    return _output_projection(WEIGHTS, kind, layer)


@st.cache_resource(show_spinner=False)
def _output_projection(folder: Path, kind: str, layer: int) -> "OutputProjection":
    from model import inside

    model, _ = loaded(folder)
    return inside.output_projection(model, kind, layer)


def anatomy() -> "tuple[Counts, ModelConfig]":
    """How many numbers each part of the shipped model has learned, and its sizes."""
    return _anatomy(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _anatomy(folder: Path) -> "tuple[Counts, ModelConfig]":
    from model import parameters

    model, _ = loaded(folder)
    return parameters.count(model), model.config


def named_alignment() -> "alignment.Reading | None":
    """How the weights folder says that words are aligned. Raises CheckpointError if it names no one way."""
    return _named_alignment(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _named_alignment(folder: Path) -> "alignment.Reading | None":
    from model import align

    model, _ = loaded(folder)
    return align.named(model, folder)


@st.cache_resource(show_spinner=False)
def everyday_gold() -> "list[Gold]":
    """The sentence pairs that were aligned by hand for this project."""
    from model import gold

    return gold.read_gold(gold.EVERYDAY)


def everyday_rates() -> "dict[alignment.Reading, float]":
    """Alignment error rate of each reading on those pairs, in percent: a second or two, once."""
    return _everyday_rates(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _everyday_rates(folder: Path) -> "dict[alignment.Reading, float]":
    from model import align

    model, tokenizer = loaded(folder)
    with _queue():
        return align.error_rates(model, tokenizer, everyday_gold())


def heads_report() -> "Report":
    """What is known about every head over a corpus. Raises ReportError if nothing is, or of other weights."""
    return _heads_report(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _heads_report(folder: Path) -> "Report":
    from model import report

    return report.load(folder)


def piece_names() -> tuple[str, ...]:
    """Every piece of the vocabulary as a reader sees it, by its id."""
    return _piece_names(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _piece_names(folder: Path) -> tuple[str, ...]:
    from model.labels import alone

    _, tokenizer = loaded(folder)
    return tuple(alone(tokenizer, piece) for piece in range(len(tokenizer)))


def lens(found: Reading) -> "Lens":
    """What is read out after each decoder layer of this reading."""
    return _lens(WEIGHTS, found.run, found.target_ids, _trace=found.trace)


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def _lens(folder: Path, run: Run, target: tuple[int, ...], *, _trace: "Trace") -> "Lens":
    from model import lens

    model, _ = loaded(folder)
    return lens.lens(_trace, lens.read_out(model))


def written(found: Reading, decoding: dict[str, Any]) -> "Written":
    """What the model writes for this sentence with these settings."""
    return _searched(WEIGHTS, found.run, tuple(sorted(decoding.items())))[0]


def beams(found: Reading, width: int) -> "Tree":
    """Every hypothesis that a beam search of this width compares for this sentence."""
    return _searched(WEIGHTS, found.run, (("beam", width), ("method", "beam")))[1]


@st.cache_resource(show_spinner=False, max_entries=64)
def _searched(folder: Path, run: Run, options: tuple[tuple[str, Any], ...]) -> "tuple[Written, Tree]":
    from model import editing, writing
    from model.decode import Decoding
    from model.edits import LiftMask
    from model.taps import heard

    model, tokenizer = loaded(folder)
    with _queue():
        edits, means = _surgery(model, run)
        # These decoders keep a cache, which a lifted mask would make worthless: they write with the mask on.
        listener = editing.edited([edit for edit in edits if edit != LiftMask()], means=means)
        return heard(listener, writing.write, model, tokenizer, run.source, Decoding(**dict(options)))


def pieces(found: Reading) -> "dict[str, tuple[Piece, ...]]":
    """What the encoder and what the decoder reads, piece by piece."""
    from model import pieces

    _, tokenizer = loaded(WEIGHTS)
    both = {"encoder": found.trace.source, "decoder": found.trace.read}
    return {side: pieces.pieces(tokenizer, tokens) for side, tokens in both.items()}


def two_orders(source: tuple[int, ...], order: tuple[int, ...]) -> "tuple[Orders, Orders]":
    """The encoder's vectors of these ids in this order and in another one: with positions, and without."""
    return _two_orders(WEIGHTS, source, order)


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def _two_orders(folder: Path, source: tuple[int, ...], order: tuple[int, ...]) -> "tuple[Orders, Orders]":
    from model.orders import in_two_orders

    model, _ = loaded(folder)
    with _queue():
        first, second = (in_two_orders(model, source, order, positions=positions) for positions in (True, False))
    return first, second


def length_report() -> "LengthReport":
    """What was measured past the training length. Raises ReportError if nothing was, or of other weights."""
    return _length_report(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _length_report(folder: Path) -> "LengthReport":
    from model import length_report

    return length_report.load(folder)


def weights_digest() -> str:
    """Names the shipped weights: the SHA-256 of their tensors."""
    return _weights_digest(WEIGHTS)


@st.cache_resource(show_spinner=False)
def _weights_digest(folder: Path) -> str:
    from model import report

    return report.digest(folder)


@st.cache_resource(show_spinner=False)
def _queue() -> threading.Lock:
    """One sentence is computed at a time; the others wait in line."""
    return threading.Lock()


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
    with _queue():
        edits, means = _surgery(model, run)
        own, target = None, run.reference
        if LiftMask() not in edits or len(run.source) <= LONGEST_UNCACHED:
            own = what_if.write_edited(model, run.source, edits, decoding=Decoding(**dict(options)), means=means)
            target = run.reference if forced else own.ids
        trace = capture.trace_of(model, tokenizer, run.source, target, edits=edits, means=means)
        considered = candidates(tokenizer, trace, CANDIDATES)
    changed = {"trace": trace, "candidates": considered, "target_ids": target}
    return changed | {"own_score": own and own.log_probability, "ended": own.ended if own else True}


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
        unedited_ids=target_ids,
    )
