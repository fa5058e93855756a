"""What is sampled from here is what model.decode samples from, and a sorted distribution loses nothing."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from model.config import NEVER
from model.decode import Decoding, sampling_distribution
from model.distribution import Settings, entropy_bits, ordered, sampled
from model.trace import Array, Trace

SETTINGS = [
    Settings(),
    Settings(temperature=0.1),
    Settings(temperature=3.0),
    Settings(top_k=1),
    Settings(top_k=12),
    Settings(top_k=1000),
    Settings(top_p=0.05),
    Settings(top_p=0.9),
    Settings(temperature=1.7, top_k=40, top_p=0.8),
]
EVERY = pytest.mark.parametrize("settings", SETTINGS, ids=str)


def by_torch(log_probabilities: Array, settings: Settings) -> Array:
    allowed = torch.from_numpy(log_probabilities.astype(np.float64)).clone()
    allowed[:, list(NEVER)] = float("-inf")
    chosen = Decoding("sample", temperature=settings.temperature, top_k=settings.top_k, top_p=settings.top_p)
    return sampling_distribution(allowed, chosen).numpy()


@pytest.fixture(scope="module")
def rows() -> Array:
    """(40, 233) log-probabilities, from one sure piece to none."""
    generator = np.random.default_rng(11)
    logits = generator.standard_normal((40, 233)) * np.linspace(0.1, 9, 40)[:, None]
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


@EVERY
def test_what_is_sampled_from_is_what_the_decoder_samples_from(trace: Trace, rows: Array, settings: Settings) -> None:
    for log_probabilities in (rows, trace.log_probabilities()):
        found = sampled(log_probabilities, settings)
        np.testing.assert_allclose(found, by_torch(log_probabilities, settings), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert not found[:, list(NEVER)].any()


@EVERY
def test_equal_pieces_are_kept_as_the_decoder_keeps_them(settings: Settings) -> None:
    """Which of several equal pieces goes at the edge of top-p is open; how many stay is not."""
    equal = np.log(np.repeat([0.3, 0.1, 0.1, 0.1, 0.1, 0.02], [1, 1, 1, 1, 1, 15]))[None]
    shuffled = np.random.default_rng(2).permutation(equal[0])[None]
    for log_probabilities in (equal, shuffled):
        found, expected = sampled(log_probabilities, settings), by_torch(log_probabilities, settings)
        np.testing.assert_allclose(np.sort(found), np.sort(expected), atol=1e-12)


def test_what_is_given_is_not_changed(rows: Array) -> None:
    before = rows.copy()
    sampled(rows, SETTINGS[-1])
    np.testing.assert_array_equal(rows, before)


def test_a_sorted_distribution_is_the_distribution(trace: Trace) -> None:
    found = ordered(trace)
    T, V = trace.logits.shape
    assert found.gaps.shape == found.ids.shape == (T, V)
    assert (found.gaps[:, 0] == 0).all()
    assert (np.diff(found.gaps, axis=1) >= 0).all()
    for step in range(T):
        back = np.empty(V)
        back[found.ids[step]] = found.best[step] - found.gaps[step]
        np.testing.assert_allclose(back, trace.log_probabilities()[step], atol=1e-5)
        assert sorted(found.ids[step, found.never[step]]) == sorted(NEVER)
        assert found.ids[step, found.written[step]] == trace.predicted[step].id


@EVERY
def test_gaps_in_float32_are_enough_at_every_temperature(trace: Trace, rows: Array, settings: Settings) -> None:
    """What the browser gets: temperature acts on the gaps alone, with an error below 1e-6."""
    gaps = (rows.max(axis=1, keepdims=True) - rows).astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(sampled(-gaps, settings), sampled(rows, settings), atol=1e-6)


@pytest.mark.parametrize(
    ("probabilities", "bits"),
    [([1, 0, 0, 0], 0.0), ([0.5, 0.5, 0, 0], 1.0), ([0.25] * 4, 2.0), ([0.5, 0.25, 0.25], 1.5)],
)
def test_entropy_is_as_computed_by_hand(probabilities: Sequence[float], bits: float) -> None:
    assert entropy_bits(np.array([probabilities, probabilities], dtype=float)) == pytest.approx([bits, bits])


def test_entropy_is_that_of_the_trace_when_nothing_is_left_out(trace: Trace) -> None:
    np.testing.assert_allclose(entropy_bits(np.exp(trace.log_probabilities())), trace.entropy(), rtol=1e-9)
