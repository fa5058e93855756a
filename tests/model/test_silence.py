"""What silencing costs, against a model whose heads are taken out by hand, a sentence at a time and without padding."""

import copy

import numpy as np
import pytest
import torch

from model import silence
from model.config import BOS, EOS, ModelConfig
from model.corpus import usable
from model.data import Encoded, Pair
from model.silence import Place, corpus_means, interval, log_probabilities, places, silenced
from model.tokenizer import Tokenizer
from model.trace import Array
from model.transformer import Transformer

H, K = 5, 4
PAIRS = [
    Pair("The old man, doesn't he hear two green trees?", "Der alte Mann, oder?"),
    Pair("Tom sees!", "Tom sieht heute im Garten 25 (oder zwei) grüne Bäume."),
    Pair("q", "x"),
]
OUTPUTS = {
    "encoder": "encoder.layers.{}.self_attention.head_outputs_tap",
    "masked": "decoder.layers.{}.self_attention.head_outputs_tap",
    "cross": "decoder.layers.{}.cross_attention.head_outputs_tap",
}


@pytest.fixture(scope="module")
def encoded(tokenizer: Tokenizer) -> list[Encoded]:
    return usable(tokenizer, PAIRS)


def alone(model: Transformer, both: Encoded) -> float:
    """ln P of one target, </s> included."""
    source, target = both
    with torch.no_grad():
        logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]]))[0].double()
    chances = logits.log_softmax(dim=-1)
    return float(sum(chances[step, piece] for step, piece in enumerate([*target, EOS])))


def by_hand(model: Transformer, place: Place, means: dict[str, torch.Tensor] | None = None) -> Transformer:
    """The model with the heads' columns of W_O at 0, and W_O times their mean moved into its bias."""
    changed = copy.deepcopy(model)
    output = changed.attention(place.kind, place.layer).output
    for head in range(1, H + 1) if place.head is None else [place.head]:
        of_head = slice(K * (head - 1), K * head)
        if means is not None:
            mean = means[OUTPUTS[place.kind].format(place.layer)][0, head - 1, 0]  # (K,)
            output.bias += output.weight[:, of_head] @ mean
        output.weight[:, of_head] = 0.0
    return changed


def test_places_are_each_attention_and_each_of_its_heads(model: Transformer) -> None:
    found = places(model)
    assert len(found) == len(set(found)) == (3 + 2 + 2) * (1 + H)
    assert [place for place in found if place.kind == "masked" and place.layer == 2] == [
        Place("masked", 2, head) for head in (None, 1, 2, 3, 4, 5)
    ]
    assert [edit.head for edit in Place("cross", 1, None).edits("zero", H)] == [1, 2, 3, 4, 5]
    assert [(e.kind, e.layer, e.head, e.by) for e in Place("cross", 2, 4).edits("mean", H)] == [("cross", 2, 4, "mean")]


def test_means_are_over_all_positions_of_all_sentences_padding_left_out(
    model: Transformer, encoded: list[Encoded]
) -> None:
    heard: dict[str, list[Array]] = {}
    for name, tap in model.named_modules():
        if name.endswith("head_outputs_tap"):
            heard[name] = []
            tap.register_forward_hook(
                lambda _, __, out, rows=heard[name]: rows.append(out[0].transpose(0, 1).double().numpy())
            )
    try:
        for both in encoded:
            alone(model, both)
        expected = {name: np.concatenate(rows).mean(axis=0) for name, rows in heard.items()}  # (H, K)
    finally:
        for name, tap in model.named_modules():
            if name in heard:
                tap._forward_hooks.clear()
    found = corpus_means(model, encoded)
    assert set(found) == set(expected)
    for name, means in found.items():
        assert means.shape == (1, H, 1, K)
        np.testing.assert_allclose(means[0, :, 0].numpy(), expected[name], atol=1e-6)


def test_log_probabilities_are_those_of_a_model_without_the_heads(model: Transformer, encoded: list[Encoded]) -> None:
    means = corpus_means(model, encoded)
    asked = [Place("encoder", 3, 2), Place("masked", 1, 5), Place("cross", 2, 1)]
    asked += [Place("encoder", 1, None), Place("masked", 2, None), Place("cross", 2, None)]
    lists = [(), *(place.edits(by, H) for place in asked for by in ("zero", "mean"))]
    found = log_probabilities(model, encoded, lists, means)
    expected = [[alone(model, both) for both in encoded]]
    for place in asked:
        for given in (None, means):
            expected.append([alone(by_hand(model, place, given), both) for both in encoded])
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert (np.abs(found[1:] - found[0]).max(axis=1) > 1e-3).all()  # each of them matters


def test_the_interval_is_that_of_a_plain_bootstrap_of_whole_pairs() -> None:
    """Counted with loops over the same draws; the mean is per token, not per pair."""
    differences, tokens = np.array([[-3.0, 1.0, 0.5, -1.0], [0.0, 0.0, 0.0, 0.0]]), np.array([3, 1, 10, 2])
    found = interval(differences, tokens)
    drawn = np.random.default_rng(silence.SEED).multinomial(4, [0.25] * 4, size=silence.RESAMPLES)
    means = []
    for counts in drawn:
        chosen = [pair for pair, count in enumerate(counts) for _ in range(count)]
        means.append(sum(differences[0, pair] for pair in chosen) / sum(tokens[pair] for pair in chosen))
    means.sort()
    assert found[0, 0] == pytest.approx(-2.5 / 16)
    assert found[0, 1] == pytest.approx(means[round(0.025 * (len(means) - 1))], rel=0.02)
    assert found[0, 2] == pytest.approx(means[round(0.975 * (len(means) - 1))], rel=0.02)
    assert found[0, 1] < found[0, 0] < found[0, 2]
    assert found[1].tolist() == [0, 0, 0]
    assert silence.RESAMPLES >= 1000


def test_a_loss_that_is_alike_everywhere_has_no_width() -> None:
    tokens = np.array([3, 1, 10, 2])
    assert interval(-0.25 * tokens[None], tokens)[0] == pytest.approx([-0.25] * 3)


def test_of_each_place_and_way_the_difference_per_token_is_told(model: Transformer, encoded: list[Encoded]) -> None:
    found = dict(silenced(model, encoded))
    assert list(found) == places(model)
    tokens = sum(len(target) + 1 for _, target in encoded)
    place = Place("cross", 1, 3)
    expected = sum(alone(by_hand(model, place), both) - alone(model, both) for both in encoded) / tokens
    assert found[place]["zero"]["delta"] == pytest.approx(expected, abs=1e-5)
    assert found[place]["zero"] != found[place]["mean"]
    for ways in found.values():
        for each in ways.values():
            assert each["low"] <= each["delta"] <= each["high"]
    assert found == dict(silenced(model, encoded))


def test_encoder_and_decoder_may_differ_in_depth(encoded: list[Encoded]) -> None:
    deep = Transformer(ModelConfig(347, d_model=20, n_heads=H, d_ff=37, encoder_layers=1, decoder_layers=2)).eval()
    assert {(place.kind, place.layer) for place, _ in silenced(deep, encoded)} == {
        ("encoder", 1),
        *((kind, layer) for kind in ("masked", "cross") for layer in (1, 2)),
    }
