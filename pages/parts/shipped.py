"""What is kept of the shipped model itself, whatever the sentence: matrices, vocabulary, and what is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import session

if TYPE_CHECKING:
    from model import alignment, neurons
    from model.config import ModelConfig
    from model.gold import Gold
    from model.inside import OutputProjection
    from model.length_report import LengthReport
    from model.parameters import Counts
    from model.report import Report
    from model.trace import Array


def feed_forward(side: str, layer: int) -> "neurons.Weights":
    """The two linear maps of one feed-forward of the shipped model."""
    return _feed_forward(session.WEIGHTS, side, layer)


@st.cache_resource(show_spinner=False)
def _feed_forward(folder: Path, side: str, layer: int) -> "neurons.Weights":
    from model import neurons

    model, _ = session.loaded(folder)
    return neurons.weights(model, side, layer)


def last_norm() -> "neurons.LastNorm":
    """The LayerNorm after which the output matrix of the shipped model reads."""
    return _last_norm(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _last_norm(folder: Path) -> "neurons.LastNorm":
    from model import neurons

    model, _ = session.loaded(folder)
    return neurons.last_norm(model)


def output_matrix() -> "Array":
    """(V, D) of the shipped model: embedding of both languages, and what reads pieces out of the last vector."""
    return _output_matrix(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _output_matrix(folder: Path) -> "Array":
    from model import neurons

    model, _ = session.loaded(folder)
    return neurons.embeddings(model)


def examples() -> "dict[str, neurons.Recorded]":
    """By side, every neuron over the built-in sentences: a second or two, once."""
    return _examples(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _examples(folder: Path) -> "dict[str, neurons.Recorded]":
    from model import examples

    model, tokenizer = session.loaded(folder)
    with session.long_queue():
        return examples.record(model, tokenizer, examples.sentences())


def output_projection(kind: str, layer: int) -> "OutputProjection":
    """W^O of one attention of the shipped model, cut into its heads."""
    return _output_projection(session.WEIGHTS, kind, layer)


@st.cache_resource(show_spinner=False)
def _output_projection(folder: Path, kind: str, layer: int) -> "OutputProjection":
    from model import inside

    model, _ = session.loaded(folder)
    return inside.output_projection(model, kind, layer)


def anatomy() -> "tuple[Counts, ModelConfig]":
    """How many numbers each part of the shipped model has learned, and its sizes."""
    return _anatomy(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _anatomy(folder: Path) -> "tuple[Counts, ModelConfig]":
    from model import parameters

    model, _ = session.loaded(folder)
    return parameters.count(model), model.config


def named_alignment() -> "alignment.Reading | None":
    """How the weights folder says that words are aligned. Raises CheckpointError if it names no one way."""
    return _named_alignment(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _named_alignment(folder: Path) -> "alignment.Reading | None":
    from model import align

    model, _ = session.loaded(folder)
    return align.named(model, folder)


@st.cache_resource(show_spinner=False)
def everyday_gold() -> "list[Gold]":
    """The sentence pairs that were aligned by hand for this project."""
    from model import gold

    return gold.read_gold(gold.EVERYDAY)


def everyday_rates() -> "dict[alignment.Reading, float]":
    """Alignment error rate of each reading on those pairs, in percent: a second or two, once."""
    return _everyday_rates(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _everyday_rates(folder: Path) -> "dict[alignment.Reading, float]":
    from model import align

    model, tokenizer = session.loaded(folder)
    with session.long_queue():
        return align.error_rates(model, tokenizer, everyday_gold())


def heads_report() -> "Report":
    """What is known about every head over a corpus. Raises ReportError if nothing is, or of other weights."""
    return _heads_report(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _heads_report(folder: Path) -> "Report":
    from model import report

    return report.load(folder)


def piece_names() -> tuple[str, ...]:
    """Every piece of the vocabulary as a reader sees it, by its id."""
    return _piece_names(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _piece_names(folder: Path) -> tuple[str, ...]:
    from model.labels import alone

    _, tokenizer = session.loaded(folder)
    return tuple(alone(tokenizer, piece) for piece in range(len(tokenizer)))


def length_report() -> "LengthReport":
    """What was measured past the training length. Raises ReportError if nothing was, or of other weights."""
    return _length_report(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _length_report(folder: Path) -> "LengthReport":
    from model import length_report

    return length_report.load(folder)


def weights_digest() -> str:
    """Names the shipped weights: the SHA-256 of their tensors."""
    return _weights_digest(session.WEIGHTS)


@st.cache_resource(show_spinner=False)
def _weights_digest(folder: Path) -> str:
    from model import report

    return report.digest(folder)
