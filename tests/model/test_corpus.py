"""What is captured in a padded batch is what each pair gives alone."""

import numpy as np
import pytest
import torch

from model.capture import WEIGHTS, trace_of
from model.corpus import BATCH, in_batches, usable, weights_over
from model.data import Encoded, Pair
from model.taps import tap_names
from model.tokenizer import Tokenizer
from model.trace import KINDS, Trace
from model.transformer import Transformer

PAIRS = [
    Pair("The old man, doesn't he hear two green trees?", "Der alte Mann, oder?"),
    Pair("Tom sees!", "Tom sieht heute im Garten 25 (oder zwei) grüne Bäume."),
    Pair("q", "x"),
]


@pytest.fixture(scope="module")
def encoded(tokenizer: Tokenizer) -> list[Encoded]:
    return usable(tokenizer, PAIRS)


def together(model: Transformer, tokenizer: Tokenizer, encoded: list[Encoded]) -> dict[int, Trace]:
    return dict(weights_over(model, tokenizer, encoded))


def test_each_pair_has_the_maps_that_it_has_alone(
    model: Transformer, tokenizer: Tokenizer, encoded: list[Encoded]
) -> None:
    found = together(model, tokenizer, encoded)
    assert sorted(found) == [0, 1, 2]
    assert len({len(ids) for both in encoded for ids in both}) >= 5  # so all of them are padded, on either side
    for index, (source_ids, target_ids) in enumerate(encoded):
        alone, batched = trace_of(model, tokenizer, source_ids, target_ids), found[index]
        assert (batched.source, batched.read, batched.predicted) == (alone.source, alone.read, alone.predicted)
        assert (batched.source_text, batched.target_text) == (alone.source_text, alone.target_text)
        assert set(batched.tensors) == {name for name in alone.tensors if name.endswith(WEIGHTS)}
        for name, array in batched.tensors.items():
            assert array.shape == alone.tensors[name].shape, name
            np.testing.assert_allclose(array, alone.tensors[name], atol=1e-6, err_msg=name)
        for kind in KINDS:
            np.testing.assert_allclose(batched.weights(kind).sum(axis=-1), 1, atol=1e-6)


def test_values_can_be_kept_as_well_each_with_its_own_columns(
    model: Transformer, tokenizer: Tokenizer, encoded: list[Encoded]
) -> None:
    kept = ("weights_tap", "values_tap")
    for index, trace in weights_over(model, tokenizer, encoded, keep=kept):
        alone = trace_of(model, tokenizer, *encoded[index])
        assert set(trace.tensors) == {name for name in alone.tensors if name.endswith(kept)}
        for name, array in trace.tensors.items():
            assert array.shape == alone.tensors[name].shape, name
            np.testing.assert_allclose(array, alone.tensors[name], atol=1e-5, err_msg=name)


def test_a_pair_without_a_target_has_an_encoder_all_the_same(model: Transformer, tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(PAIRS[0].source)
    (_, bare), (_, full) = (next(iter(weights_over(model, tokenizer, [(ids, target)]))) for target in ([], [70, 71]))
    np.testing.assert_allclose(bare.weights("encoder"), full.weights("encoder"), atol=1e-6)


def test_batches_hold_every_index_once_and_go_from_short_to_long() -> None:
    lengths = [(index * 7) % 90 + 1 for index in range(2 * BATCH + 5)]
    encoded: list[Encoded] = [([5] * length, [6]) for length in lengths]
    batches = list(in_batches(encoded))
    order = [index for batch in batches for index in batch]
    assert [len(batch) for batch in batches] == [BATCH, BATCH, 5]
    assert sorted(order) == list(range(len(encoded)))
    assert [lengths[index] for index in order] == sorted(lengths)


def test_pairs_that_are_empty_or_too_long_cannot_be_used(tokenizer: Tokenizer) -> None:
    out = [Pair("q" * 300, "x"), Pair("x", "q" * 300), Pair("\u200b", "x"), Pair("x", "\u200b")]
    assert usable(tokenizer, [*out, *PAIRS]) == usable(tokenizer, PAIRS)
    assert usable(tokenizer, out) == []


def test_a_model_in_training_is_refused(model: Transformer, tokenizer: Tokenizer, encoded: list[Encoded]) -> None:
    training = Transformer(model.config).train()
    with pytest.raises(ValueError, match="training mode"):
        together(training, tokenizer, encoded)


def test_of_one_sentence_too_only_what_is_asked_for_is_kept_and_it_is_the_same(
    model: Transformer, tokenizer: Tokenizer, encoded: list[Encoded]
) -> None:
    everything, weights = (trace_of(model, tokenizer, *encoded[0], keep=keep) for keep in (("",), WEIGHTS))
    assert set(everything.tensors) == set(tap_names(model))
    assert 0 < len(weights.tensors) < len(everything.tensors) / 3
    for name, array in weights.tensors.items():
        np.testing.assert_array_equal(array, everything.tensors[name])


def test_it_costs_no_gradient(model: Transformer, tokenizer: Tokenizer, encoded: list[Encoded]) -> None:
    learning = Transformer(model.config).eval()
    assert torch.is_grad_enabled()
    assert len(together(learning, tokenizer, encoded)) == 3
