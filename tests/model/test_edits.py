"""An edit changes what it says and nothing else; what is captured is what came out of it."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from model.capture import trace_of
from model.config import BOS, EOS, MAX_PIECES, PAD, UNK, ModelConfig
from model.data import Pair
from model.decode import EXTRA_PIECES, decode
from model.editing import edited
from model.edits import LiftMask
from model.taps import heard, tap_names
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, Trace
from model.transformer import Transformer
from model.what_if import write_anew, write_edited

Batch = tuple[Tensor, Tensor]
LIFTED = (LiftMask(),)
SOURCE, TARGET = list(range(70, 82)), list(range(150, 157))  # 13 columns with </s>, 8 rows with <s>
H = 5


def everything(model: Transformer, batch: Batch, *edits: LiftMask) -> dict[str, Tensor]:
    """All tensors of one pass, as they come out of the edits."""
    kept: dict[str, Tensor] = {}
    heard(edited(edits, then=kept.__setitem__), model, *batch)
    return kept


@pytest.fixture(scope="module")
def trained_way(model: Transformer, tokenizer: Tokenizer) -> Trace:
    return trace_of(model, tokenizer, SOURCE, TARGET)


@pytest.fixture(scope="module")
def lifted(model: Transformer, tokenizer: Tokenizer) -> Trace:
    return trace_of(model, tokenizer, SOURCE, TARGET, edits=LIFTED)


def test_without_edits_not_one_bit_changes(model: Transformer, batch: Batch) -> None:
    assert torch.equal(heard(edited(()), model, *batch), model(*batch))
    plain: dict[str, Tensor] = {}
    heard(plain.__setitem__, model, *batch)
    found = everything(model, batch)
    assert sorted(found) == sorted(tap_names(model))
    assert all(torch.equal(found[name], plain[name]) for name in plain)


def test_a_lifted_mask_leaves_the_model_as_it_was(model: Transformer, batch: Batch) -> None:
    before = model(*batch)
    assert not torch.equal(heard(edited(LIFTED), model, *batch), before)
    assert torch.equal(model(*batch), before)


def test_with_the_mask_lifted_rows_see_the_future_and_without_they_do_not(model: Transformer) -> None:
    source = torch.tensor([[*SOURCE, EOS]])
    target = torch.tensor([[BOS, *TARGET]])
    other = target.clone()
    other[0, -1] = 200
    as_trained = model(source, target) - model(source, other)
    ahead = heard(edited(LIFTED), model, source, target) - heard(edited(LIFTED), model, source, other)
    changes, changes_ahead = (difference[0].abs().amax(dim=-1) for difference in (as_trained, ahead))  # (T,)
    assert (changes[:-1] == 0).all()
    assert changes[-1] > 1e-2
    assert (changes_ahead > 1e-3).all()


def test_every_decoder_layer_looks_ahead_and_what_is_captured_says_so(lifted: Trace) -> None:
    for layer in (1, 2):
        for head in range(1, H + 1):
            shown = lifted.map("masked", layer, head)
            assert shown.allowed.shape == (8, 8)
            assert shown.allowed.all()
            assert (shown.weights > 0).all()


def test_weights_are_captured_after_the_edit(lifted: Trace) -> None:
    """They are the softmax of whole rows of the captured scores, and mix the captured values."""
    for layer in (1, 2):
        scores, weights, values, outputs = (
            lifted.attention("masked", layer, what).astype(np.float64)
            for what in ("scores", "weights", "values", "head_outputs")
        )
        exponentials = np.exp(scores)
        np.testing.assert_allclose(
            weights, exponentials / exponentials.sum(axis=-1, keepdims=True), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-6)
        for head in range(H):
            np.testing.assert_allclose(weights[head] @ values[head], outputs[head], rtol=1e-5, atol=1e-6)


def test_padding_stays_hidden_under_a_lifted_mask(model: Transformer, batch: Batch) -> None:
    found = everything(model, batch, *LIFTED)
    real = batch[1] != PAD  # (B, T)
    for layer in (1, 2):
        prefix = f"decoder.layers.{layer}.self_attention."
        assert torch.equal(found[prefix + "may_look_tap"], real[:, None, None, :].expand(6, 1, 8, 8))
        weights = found[prefix + "weights_tap"]  # (B, H, T, T)
        hidden = ~real[:, None, None, :].expand_as(weights)
        assert hidden.any()
        assert (weights[hidden] == 0).all()
        assert (weights[~hidden] > 0).all()
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(6, H, 8))


def test_a_sentence_with_padding_and_a_lifted_mask_equals_itself_alone(model: Transformer, batch: Batch) -> None:
    source, target = batch
    together = heard(edited(LIFTED), model, source, target)
    for row in range(6):
        alone = tuple(ids[row : row + 1, : int((ids[row] != PAD).sum())] for ids in batch)
        expected = heard(edited(LIFTED), model, *alone)[0]
        torch.testing.assert_close(together[row, : len(expected)], expected, rtol=1e-5, atol=1e-5)


def test_lifting_the_mask_touches_neither_the_encoder_nor_what_cross_attention_may_look_at(
    model: Transformer, batch: Batch
) -> None:
    plain, found = everything(model, batch), everything(model, batch, *LIFTED)
    of_memory = tuple(f"cross_attention.{what}_tap" for what in ("may_look", "keys", "values"))
    untouched = [name for name in plain if name.startswith("encoder.") or name.endswith(of_memory)]
    assert len(untouched) > 40
    for name in untouched:
        assert torch.equal(plain[name], found[name]), name
    changed = [name for name in plain if name.endswith("may_look_tap") and not torch.equal(plain[name], found[name])]
    assert changed == [f"decoder.layers.{layer}.self_attention.may_look_tap" for layer in (1, 2)]


@pytest.mark.parametrize("number", [0, 5])
def test_written_without_edits_a_translation_is_the_greedy_one(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair], number: int
) -> None:
    ids = tokenizer.encode(pairs[number].source)
    greedy = decode(trained, torch.tensor([[*ids, EOS]]))[0]
    found = write_anew(trained, ids, ())
    assert greedy.ended
    assert (found.ids, found.ended) == (greedy.ids, True)
    assert found.log_probabilities == pytest.approx(greedy.log_probabilities, abs=1e-5)


@pytest.mark.parametrize("pieces", [3, MAX_PIECES - EXTRA_PIECES + 30])
def test_a_translation_without_end_is_cut_where_the_greedy_one_is(
    build: Callable[..., Transformer], pieces: int
) -> None:
    endless = build(ModelConfig(53, d_model=4, n_heads=1, d_ff=6, encoder_layers=1, decoder_layers=1), seed=3)
    ids = torch.randint(4, 53, (pieces,), generator=torch.Generator().manual_seed(1)).tolist()
    greedy, found = decode(endless, torch.tensor([[*ids, EOS]]))[0], write_anew(endless, ids, ())
    assert not greedy.ended
    assert len(greedy.ids) == min(MAX_PIECES, pieces + EXTRA_PIECES)
    assert (found.ids, found.ended) == (greedy.ids, False)
    assert found.log_probabilities == pytest.approx(greedy.log_probabilities, abs=1e-5)


@pytest.mark.parametrize("special", [PAD, UNK, BOS])
def test_a_special_piece_is_never_written_however_probable_it_is(
    build: Callable[..., Transformer], special: int
) -> None:
    model = build(ModelConfig(53, d_model=6, n_heads=1, d_ff=7, encoder_layers=1, decoder_layers=1))
    model.decoder.get_parameter("layers.1.feed_forward_residual.norm.bias").fill_(3)  # so are the logits' vectors
    model.embedding.weight[special] = 1
    source = torch.tensor([[7, 8, EOS]])
    assert model(source, torch.tensor([[BOS]])).argmax() == special
    greedy, found = decode(model, source)[0], write_anew(model, [7, 8], ())
    assert found.ids == greedy.ids
    assert not {PAD, UNK, BOS} & {*found.ids}


def written_looking_ahead(model: Transformer, source_ids: Sequence[int]) -> tuple[list[int], list[float]]:
    """Greedy, by hand: a mask of nothing but True, every row anew at each step, and no edit at all."""
    state = model.start(torch.tensor([[*source_ids, EOS]]))
    ids, chances = [BOS], []
    while len(ids) <= len(source_ids) + EXTRA_PIECES and ids[-1] != EOS:
        everywhere = torch.ones(1, 1, len(ids), len(ids), dtype=torch.bool)
        vectors, _ = model.decoder(model.embedding(torch.tensor([ids])), everywhere, state)
        chance = (vectors[0, -1].double() @ model.embedding.weight.double().T).log_softmax(dim=-1)
        ids.append(int(chance[EOS:].argmax()) + EOS)  # <pad>, <unk> and <s> come before </s>, and are never written
        chances.append(float(chance[ids[-1]]))
    return ids[1:], chances


@pytest.mark.parametrize("number", [1, 4])
def test_written_with_the_mask_lifted_a_translation_is_that_of_a_plain_loop(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair], number: int
) -> None:
    ids = tokenizer.encode(pairs[number].source)
    pieces, chances = written_looking_ahead(trained, ids)
    found = write_edited(trained, ids, LIFTED)
    assert [*found.ids, *[EOS] * found.ended] == pieces
    assert found.log_probabilities == pytest.approx(chances, abs=1e-5)
    assert found.ids != write_edited(trained, ids, ()).ids


@pytest.mark.parametrize("edits", [(), LIFTED])
def test_padding_changes_no_real_cell_and_is_never_looked_at(
    model: Transformer, tokenizer: Tokenizer, edits: Sequence[LiftMask]
) -> None:
    alone = trace_of(model, tokenizer, SOURCE, TARGET, edits=edits)
    padded = trace_of(model, tokenizer, SOURCE, TARGET, edits=edits, padding=3)
    for kind in KINDS:
        one, other = alone.weights(kind), padded.weights(kind)
        rows, columns = one.shape[-2:]
        assert other.shape[-2:] == (rows + 3, columns + 3)
        np.testing.assert_allclose(other[..., :rows, :columns], one, rtol=0, atol=1e-6)
        assert (other[..., columns:] == 0).all()
        np.testing.assert_allclose(other.sum(axis=-1), 1, atol=1e-6)
        assert not padded.map(kind, 2, 3).allowed[:, columns:].any()
    np.testing.assert_allclose(padded.logits[:8], alone.logits, atol=1e-5)


def test_padding_is_labelled_as_such_on_both_sides(model: Transformer, tokenizer: Tokenizer) -> None:
    alone, padded = (trace_of(model, tokenizer, SOURCE, TARGET, padding=n) for n in (0, 2))
    for name in ("source", "read", "predicted"):
        tokens = getattr(padded, name)
        assert tokens[:-2] == getattr(alone, name)
        assert [(t.text, t.special, t.continues, t.id) for t in tokens[-2:]] == [("<pad>", True, False, PAD)] * 2
    assert (padded.source_text, padded.target_text) == (alone.source_text, alone.target_text)


def cached_steps(model: Transformer, ids: Sequence[int]) -> list[tuple[tuple[Tensor, Tensor], ...]]:
    """Keys and values of memory in every decoder layer, before the first step and after each."""
    state = model.start(torch.tensor([[*SOURCE, EOS]]))
    found = []
    for piece in (None, *ids):
        if piece is not None:
            _, state = model.step(torch.tensor([[piece]]), state)
        found.append(tuple((layer.memory_keys, layer.memory_values) for layer in state.layers))
    return found


def test_keys_and_values_of_the_memory_are_the_same_at_every_step(model: Transformer, trained_way: Trace) -> None:
    steps = cached_steps(model, [BOS, *TARGET])
    assert len(steps) == 9
    for step in steps:
        for layer, (keys, values) in enumerate(step, start=1):
            first_keys, first_values = steps[0][layer - 1]
            assert keys is first_keys
            assert values is first_values
            same_bits(keys, trained_way.attention("cross", layer, "keys"))
            same_bits(values, trained_way.attention("cross", layer, "values"))


def same_bits(kept: Tensor, captured: Array) -> None:
    assert kept[0].shape == captured.shape == (H, 13, 4)
    assert kept[0].numpy().tobytes() == captured.tobytes()
