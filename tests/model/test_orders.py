"""Two orders of the same pieces: without positions the encoder's rows are the same vectors in another order."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from model.config import EOS
from model.labels import labels
from model.orders import backwards, in_two_orders
from model.tokenizer import Tokenizer
from model.transformer import Transformer

TEXT = "The old man doesn't hear two green trees in the garden!"


def ids_of(tokenizer: Tokenizer) -> list[int]:
    return tokenizer.encode(TEXT)


def test_words_run_backwards_whole_and_what_closes_stays_last(tokenizer: Tokenizer) -> None:
    ids = ids_of(tokenizer)
    tokens = labels(tokenizer, [*ids, EOS])
    order = backwards(tokens)
    assert sorted(order) == list(range(len(tokens)))
    said = tokenizer.decode([ids[place] for place in order[:-1]])
    assert said == "garden the in trees green two hear doesn't man old The!"
    assert order[-1] == len(ids)
    assert any(after == before + 1 for before, after in pairwise(order)), "a word of several pieces"


def test_without_positions_the_rows_are_the_same_vectors_in_another_order(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    ids = ids_of(tokenizer)
    order = backwards(labels(tokenizer, [*ids, EOS]))
    found = in_two_orders(model, ids, order, positions=False)
    assert found.first.shape == (len(ids) + 1, model.config.d_model)
    np.testing.assert_allclose(found.second, found.first, atol=2e-5)
    assert found.largest_difference < 2e-5
    np.testing.assert_allclose(found.cosines, 1.0, atol=1e-6)
    assert np.abs(found.first - found.first[order]).max() > 0.1, "or any order would do"


def test_with_positions_they_are_not(model: Transformer, tokenizer: Tokenizer) -> None:
    ids = ids_of(tokenizer)
    order = backwards(labels(tokenizer, [*ids, EOS]))
    found = in_two_orders(model, ids, order, positions=True)
    assert found.largest_difference > 0.1
    assert found.cosines.min() < 0.99


def test_rows_are_put_back_under_their_token(model: Transformer, tokenizer: Tokenizer) -> None:
    ids = ids_of(tokenizer)
    order = [2, 0, 1, *range(3, len(ids) + 1)]  # no reversal, which is its own inverse
    found = in_two_orders(model, ids, order, positions=True)
    with torch.inference_mode():
        first = model.encode(torch.tensor([[*ids, EOS]]))[0].numpy()
        other = model.encode(torch.tensor([[ids[2], ids[0], ids[1], *ids[3:], EOS]]))[0].numpy()
    np.testing.assert_array_equal(found.first, first)
    np.testing.assert_array_equal(found.second[[2, 0, 1]], other[:3])
    np.testing.assert_array_equal(found.second[3:], other[3:])
    difference = np.abs(first[2].astype(float) - other[0]).max()
    assert found.largest_difference >= difference


@pytest.mark.parametrize("order", [[0, 1], [0, 0, 2], [2, 1, 0], [0, 1, 3]])
def test_an_order_that_is_none_is_refused(model: Transformer, order: list[int]) -> None:
    with pytest.raises(ValueError, match="each place once"):
        in_two_orders(model, [10, 11], order, positions=True)
