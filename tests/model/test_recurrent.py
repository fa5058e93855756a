"""Recurrent encoder–decoders: padding and the future are invisible, and one step after the other equals all at once."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import checkpoint, evaluate, score, sums, translate
from model.architectures import build
from model.checkpoint import CheckpointError, load, load_any
from model.config import BOS, EOS, PAD, ConfigError, ModelConfig
from model.criterion import token_loss
from model.data import Pair
from model.decode import Decoding, decode
from model.recurrent import ARCHITECTURES, PRESETS, Recurrent, RecurrentConfig, backwards
from model.taps import heard, tap_names
from model.tokenizer import Tokenizer

WEIGHTS = "decoder.cross_attention.weights_tap"
CONFIGS = {
    "rnn": RecurrentConfig("rnn", 347, d_model=20, layers=3),
    "lstm": RecurrentConfig("lstm", 347, d_model=20, layers=3),
    "lstm-attention": RecurrentConfig("lstm-attention", 347, d_model=20, layers=1),
}


def random_model(architecture: str, *, seed: int = 1) -> Recurrent:
    """With weights twice as large as new ones, so that what is far away counts."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = Recurrent(CONFIGS[architecture]).eval().requires_grad_(False)
        for name, parameter in made.named_parameters():
            if "layers" in name or "cell" in name or "attention" in name:
                parameter.mul_(2)
    return made


@pytest.fixture(scope="module", params=ARCHITECTURES)
def model(request: pytest.FixtureRequest) -> Recurrent:
    """One random model of each architecture: look, do not touch."""
    return random_model(request.param)


@pytest.fixture(scope="module")
def attentive() -> Recurrent:
    return random_model("lstm-attention")


def maps(model: Recurrent, source: Tensor, target: Tensor) -> Tensor:
    """Weights (B, T, S)."""
    rows: list[Tensor] = []
    heard(lambda name, tensor: rows.append(tensor) if name == WEIGHTS else None, model, source, target)
    return torch.cat(rows, dim=1)


def lengths(ids: Tensor) -> list[int]:
    return [int(n) for n in (ids != PAD).sum(dim=1)]


def test_logits_have_a_row_for_each_target_position(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    assert model(*batch).shape == (6, 8, 347)


def test_padding_is_invisible_on_both_sides(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    """In either direction of reading: a state that had run on through padding would differ."""
    source, target = batch
    together = model(source, target)
    for row, (S, T) in enumerate(zip(lengths(source), lengths(target), strict=True)):
        alone = model(source[row : row + 1, :S], target[row : row + 1, :T])[0]
        torch.testing.assert_close(together[row, :T], alone, rtol=1e-5, atol=1e-5)
        padded = torch.nn.functional.pad(source[row : row + 1, :S], (0, 7))
        torch.testing.assert_close(model(padded, target[row : row + 1, :T])[0], alone, rtol=1e-5, atol=1e-5)


def test_no_position_sees_its_future(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    source, target = batch
    before = model(source, target)
    for changed in range(1, 8):
        other = target.clone()
        other[:, changed:] = 5
        after = model(source, other)
        assert torch.equal(after[:, :changed], before[:, :changed])
        assert not torch.allclose(after[0, changed], before[0, changed])


def test_every_source_token_matters_and_so_does_its_place(model: Recurrent) -> None:
    source, target = torch.tensor([[5, 6, 7, 8, EOS]]), torch.tensor([[BOS, 9]])
    before = model(source, target)
    for position in range(5):
        other = source.clone()
        other[0, position] = 10
        assert not torch.allclose(model(other, target)[0, 0], before[0, 0], atol=1e-5)
    assert not torch.allclose(model(torch.tensor([[6, 5, 7, 8, EOS]]), target), before, atol=1e-5)


def test_step_by_step_equals_teacher_forcing(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    source, target = batch
    at_once, state = model(source, target), model.start(source)
    for first, last in ((0, 1), (1, 2), (2, 5), (5, 8)):
        logits, state = model.step(target[:, first:last], state)
        torch.testing.assert_close(logits, at_once[:, first:last], rtol=1e-5, atol=1e-5)


def test_a_state_goes_on_with_the_rows_that_were_selected(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    source, target = batch
    _, state = model.step(target[:, :1], model.start(source))
    rows = torch.tensor([4, 0, 4])
    logits, _ = model.step(target[rows, 1:2], state.select(rows))
    torch.testing.assert_close(logits, model(source, target)[rows, 1:2], rtol=1e-5, atol=1e-5)


def test_rows_that_keep_their_sources_go_on_as_selected_rows_do(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    source, target = batch
    twice = torch.tensor([4, 4, 0])
    begun = torch.tensor([[5], [6], [7]])
    _, state = model.step(begun, model.start(source[twice]))
    rows = torch.tensor([1, 0, 2])
    kept, _ = model.step(target[:3, 1:2], state.select(rows, same_sources=True))
    copied, _ = model.step(target[:3, 1:2], state.select(rows))
    assert torch.equal(kept, copied)


@pytest.mark.parametrize("decoding", [Decoding(), Decoding("beam", beam=3), Decoding("sample", seed=7)])
def test_a_translation_s_log_probabilities_are_those_of_teacher_forcing(
    model: Recurrent, batch: tuple[Tensor, Tensor], decoding: Decoding
) -> None:
    source = batch[0]
    for row, found in enumerate(decode(model, source, decoding)):
        read = torch.tensor([[BOS, *found.ids]])
        chances = model(source[row : row + 1], read)[0].double().log_softmax(dim=-1)
        expected = [
            float(chances[t, piece]) for t, piece in enumerate([*found.ids, EOS][: len(found.log_probabilities)])
        ]
        assert found.log_probabilities == pytest.approx(expected, abs=1e-4)


def test_greedy_decoding_is_the_same_alone_and_in_a_batch(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    source = batch[0]
    together = decode(model, source)
    for row, S in enumerate(lengths(source)):
        assert decode(model, source[row : row + 1, :S])[0].ids == together[row].ids


def test_attention_sums_to_one_over_real_source_tokens(attentive: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    source, target = batch
    weights = maps(attentive, source, target)
    assert weights.shape == (6, 8, 11)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(6, 8))
    assert (weights[(source == PAD)[:, None].expand_as(weights)] == 0).all()
    assert (weights[(source != PAD)[:, None].expand_as(weights)] > 0).all()
    assert weights.std(dim=1).max() > 1e-3, "every row of the map is the same"


def test_attention_weights_are_the_paper_s_formula(attentive: Recurrent) -> None:
    """v · tanh(W s + U h), a softmax over the source, s of the step before (Bahdanau et al. 2015, A.1.2)."""
    source, target = torch.tensor([[5, 6, 7, 8, 9, EOS]]), torch.tensor([[BOS, 11, 12]])
    look, states = attentive.decoder.cross_attention, []
    state = attentive.start(source)
    for t in range(3):
        states.append(state.hidden[0])
        _, state = attentive.step(target[:, t : t + 1], state)
    memory = state.memory[0]
    W, b, U, v = look.query.weight, look.query.bias, look.key.weight, look.score.weight[0]
    expected = [[float(v @ torch.tanh(W @ s + b + U @ h)) for h in memory] for s in states]
    torch.testing.assert_close(maps(attentive, source, target)[0], torch.tensor(expected).softmax(dim=-1))


def test_the_decoder_with_attention_is_pytorch_s_lstm_on_what_it_read_and_found(attentive: Recurrent) -> None:
    source, target = torch.tensor([[5, 6, 7, 8, 9, EOS]]), torch.tensor([[BOS, 11, 12, 13]])
    decoder, contexts = attentive.decoder, []
    hook = decoder.cross_attention.register_forward_hook(lambda module, given, context: contexts.append(context))
    state = attentive.start(source)
    _, after = attentive.step(target, state)
    hook.remove()
    lstm = torch.nn.LSTM(60, 20, batch_first=True)
    lstm.load_state_dict({f"{name}_l0": tensor for name, tensor in decoder.cell.state_dict().items()})
    given = torch.cat([attentive.embedding(target) * 20**0.5, torch.stack(contexts, dim=1)], dim=-1)
    hidden, cell = lstm(given, (state.hidden[None], state.cell[None]))[1]
    torch.testing.assert_close(after.hidden, hidden[0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(after.cell, cell[0], rtol=1e-5, atol=1e-6)


def test_attention_that_a_listener_replaces_is_what_is_used(attentive: Recurrent) -> None:
    source, target = torch.tensor([[5, 6, 7, EOS]]), torch.tensor([[BOS, 11]])

    def only_last(name: str, tensor: Tensor) -> Tensor | None:
        return torch.tensor([[[0.0, 0.0, 0.0, 1.0]]]) if name == WEIGHTS else None

    contexts: list[Tensor] = []
    look = attentive.decoder.cross_attention
    hook = look.register_forward_hook(lambda module, given, context: contexts.append(context))
    heard(only_last, attentive, source, target)
    hook.remove()
    memory = attentive.start(source).memory
    assert all(torch.equal(context[0], memory[0, 3]) for context in contexts)


def test_the_last_state_is_all_that_is_handed_over_without_attention(model: Recurrent) -> None:
    state = model.start(torch.tensor([[5, 6, 7, 8, EOS]]))
    sizes = (
        {name: tuple(t.shape) for name, t in vars(state).items()} if model.attentive else [*map(_shape, state.states)]
    )
    expected = {"rnn": [(3, 1, 20)], "lstm": [(3, 1, 20)] * 2}
    by_attention = {"hidden": (1, 20), "cell": (1, 20), "memory": (1, 5, 40), "keys": (1, 5, 20), "may_look": (1, 5)}
    assert sizes == (by_attention if model.attentive else expected[model.config.architecture])


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def test_the_source_is_read_backwards_within_each_sentence() -> None:
    ids = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD], [9, 4, EOS, PAD]])
    expected = [[EOS, 7, 6, 5], [EOS, 8, PAD, PAD], [EOS, 4, 9, PAD]]
    assert backwards(ids, torch.tensor([4, 2, 3])).tolist() == expected


def test_the_first_word_is_nearest_to_the_decoder_without_attention() -> None:
    """Sutskever et al. 2014, 3.3: the encoder's last input is the sentence's first token."""
    model = random_model("lstm")
    seen: dict[str, Tensor] = {}
    heard(lambda name, tensor: seen.update({name: tensor}), model, torch.tensor([[5, 6, EOS]]), torch.tensor([[BOS]]))
    expected = model.embedding(torch.tensor([EOS, 6, 5])) * 20**0.5
    torch.testing.assert_close(seen["encoder.input.embeddings_tap"][0], expected)


def test_watching_changes_no_bit(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    names: list[str] = []
    watched = heard(lambda name, _: names.append(name), model, *batch)
    assert torch.equal(watched, model(*batch))
    assert set(names) == set(tap_names(model))


def test_one_matrix_is_embedding_and_output(model: Recurrent) -> None:
    assert [name for name, tensor in model.state_dict().items() if 347 in tensor.shape] == ["embedding.weight"]


@pytest.mark.parametrize("architecture", ["lstm", "lstm-attention"])
def test_forget_gates_begin_open(architecture: str) -> None:
    """In PyTorch's order of gates: input, forget, cell, output."""
    state = Recurrent(CONFIGS[architecture]).state_dict()
    biases = [tensor for name, tensor in state.items() if "bias_ih" in name]
    assert len(biases) == {"lstm": 6, "lstm-attention": 3}[architecture]
    for bias in biases:
        assert (bias[20:40] == 1).all()
        assert (bias[:20].abs() < 0.5).all()
        assert (bias[40:].abs() < 0.5).all()


def test_the_presets_are_of_equal_size() -> None:
    sizes = [sum(p.numel() for p in build(config).parameters()) for config in PRESETS.values()]
    assert max(sizes) / min(sizes) < 1.05


def test_gradients_reach_every_parameter(model: Recurrent, batch: tuple[Tensor, Tensor]) -> None:
    taught = build(model.config, dropout=0.2)
    source, target = batch
    token_loss(taught(source, target), target, smoothing=0.1).backward()
    assert [name for name, p in taught.named_parameters() if p.grad is None or not p.grad.any()] == []


@pytest.fixture
def folder(model: Recurrent, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    checkpoint.save(tmp_path / "w", model.config, {n: t.half() for n, t in model.state_dict().items()}, tokenizer)
    return tmp_path / "w"


def test_a_saved_model_comes_back_as_it_was(model: Recurrent, folder: Path, tokenizer: Tokenizer) -> None:
    loaded, vocabulary = load_any(folder)
    assert isinstance(loaded, Recurrent)
    assert loaded.config == model.config
    assert not loaded.training
    assert vocabulary.serialized == tokenizer.serialized
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor.half().float())


def test_it_is_made_ready_to_ship_as_a_transformer_is(folder: Path, tmp_path: Path) -> None:
    assert checkpoint.main([str(folder), "--out", str(tmp_path / "half")]) == 0
    assert {tensor.dtype for tensor in load_file(tmp_path / "half" / "model.safetensors").values()} == {torch.float16}
    assert load_any(tmp_path / "half")[0].config == load_any(folder)[0].config


def test_what_needs_heads_says_that_it_finds_none(folder: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no Transformer, so it has no heads to look at"):
        load(folder)


def test_damaged_folders_are_refused_as_those_of_a_transformer_are(folder: Path) -> None:
    (folder / sums.NAME).unlink()  # it would only say that the files are others
    tensors = load_file(folder / "model.safetensors")
    save_file({n: t for n, t in tensors.items() if n != "embedding.weight"}, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"has no tensor embedding\.weight, which config\.json asks for"):
        load_any(folder)
    (folder / "config.json").write_text('{"architecture": "gru", "vocab_size": 347, "d_model": 20, "layers": 1}')
    with pytest.raises(CheckpointError, match=r"architecture='gru' is not known; choose rnn or lstm or lstm-attention"):
        load_any(folder)
    (folder / "config.json").write_text(json.dumps({"architecture": "lstm", "d_model": 20}))
    with pytest.raises(CheckpointError, match="must hold exactly the fields"):
        load_any(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"d_model": 0}, "d_model=0 must be a whole number, 1 or more"),
        ({"layers": True}, "layers=True must be a whole number"),
        ({"architecture": "transformer"}, "architecture='transformer' is not known"),
        ({"architecture": "lstm-attention"}, "layers=3 must be 1 for lstm-attention"),
    ],
)
def test_a_configuration_that_no_model_can_have_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        replace(CONFIGS["lstm"], **change)


def test_the_commands_for_a_transformer_work_for_it(
    model: Recurrent,
    folder: Path,
    tokenizer: Tokenizer,
    pairs: Sequence[Pair],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs[:5]), encoding="utf-8")
    assert translate.main([pairs[0].source, "--beam", "2", "--weights", str(folder)]) == 0
    capsys.readouterr()
    assert evaluate.main([str(file), "--json", "--weights", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 5
    assert score.main([str(file), "--json", "--weights", str(folder)]) == 0
    found = [json.loads(line)["log_probability"] for line in capsys.readouterr().out.splitlines()]
    assert found == pytest.approx(score.log_probabilities(load_any(folder)[0], tokenizer, pairs[:5]))


def test_a_transformer_s_folder_is_read_by_either_way_in(weights: Path, tiny: ModelConfig) -> None:
    assert load_any(weights)[0].config == load(weights)[0].config == tiny
