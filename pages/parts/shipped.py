"""What is kept of the shipped model itself, whatever the sentence: matrices, vocabulary, and what is known of it."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

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

P = ParamSpec("P")
R = TypeVar("R")


def cached_by_weights(function: Callable[Concatenate[Path, P], R]) -> Callable[P, R]:
    """Keeps what a function makes of a weights folder; who calls it leaves the folder to the session."""
    kept = st.cache_resource(show_spinner=False)(function)

    @wraps(function)
    def of_the_session(*args: P.args, **kwargs: P.kwargs) -> R:
        return kept(session.WEIGHTS, *args, **kwargs)

    return of_the_session


@cached_by_weights
def feed_forward(folder: Path, side: str, layer: int) -> "neurons.Weights":
    """The two linear maps of one feed-forward of the shipped model."""
    from model import neurons

    model, _ = session.loaded(folder)
    return neurons.weights(model, side, layer)


@cached_by_weights
def last_norm(folder: Path) -> "neurons.LastNorm":
    """The LayerNorm after which the output matrix of the shipped model reads."""
    from model import neurons

    model, _ = session.loaded(folder)
    return neurons.last_norm(model)


@cached_by_weights
def output_matrix(folder: Path) -> "Array":
    """(V, D) of the shipped model: embedding of both languages, and what reads pieces out of the last vector."""
    from model import neurons

    model, _ = session.loaded(folder)
    return neurons.embeddings(model)


@cached_by_weights
def examples(folder: Path) -> "dict[str, neurons.Recorded]":
    """By side, every neuron over the built-in sentences: a second or two, once."""
    from model import examples

    model, tokenizer = session.loaded(folder)
    with session.long_queue():
        return examples.record(model, tokenizer, examples.sentences())


@cached_by_weights
def output_projection(folder: Path, kind: str, layer: int) -> "OutputProjection":
    """W^O of one attention of the shipped model, cut into its heads."""
    from model import inside

    model, _ = session.loaded(folder)
    return inside.output_projection(model, kind, layer)


@cached_by_weights
def anatomy(folder: Path) -> "tuple[Counts, ModelConfig]":
    """How many numbers each part of the shipped model has learned, and its sizes."""
    from model import parameters

    model, _ = session.loaded(folder)
    return parameters.count(model), model.config


@cached_by_weights
def named_alignment(folder: Path) -> "alignment.Reading | None":
    """How the weights folder says that words are aligned. Raises CheckpointError if it names no one way."""
    from model import align

    model, _ = session.loaded(folder)
    return align.named(model, folder)


@st.cache_resource(show_spinner=False)
def everyday_gold() -> "list[Gold]":
    """The sentence pairs that were aligned by hand for this project."""
    from model import gold

    return gold.read_gold(gold.EVERYDAY)


@cached_by_weights
def everyday_rates(folder: Path) -> "dict[alignment.Reading, float]":
    """Alignment error rate of each reading on those pairs, in percent: a second or two, once."""
    from model import align

    model, tokenizer = session.loaded(folder)
    with session.long_queue():
        return align.error_rates(model, tokenizer, everyday_gold())


@cached_by_weights
def heads_report(folder: Path) -> "Report":
    """What is known about every head over a corpus. Raises ReportError if nothing is, or of other weights."""
    from model import report

    return report.load(folder)


@cached_by_weights
def piece_names(folder: Path) -> tuple[str, ...]:
    """Every piece of the vocabulary as a reader sees it, by its id."""
    from model.labels import alone

    _, tokenizer = session.loaded(folder)
    return tuple(alone(tokenizer, piece) for piece in range(len(tokenizer)))


@cached_by_weights
def length_report(folder: Path) -> "LengthReport":
    """What was measured past the training length. Raises ReportError if nothing was, or of other weights."""
    from model import length_report

    return length_report.load(folder)


@cached_by_weights
def weights_digest(folder: Path) -> str:
    """Names the shipped weights: the SHA-256 of their tensors."""
    from model import report

    return report.digest(folder)
