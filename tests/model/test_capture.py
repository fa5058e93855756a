"""A capture holds every tap of one sentence, whoever else is captured meanwhile, and can be read without pickle."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model.capture import Prepared, capture, main, prepare, save, trace_of, translate_ids
from model.command import InputError
from model.config import BOS, EOS, MAX_PIECES, ModelConfig
from model.decode import Decoding
from model.taps import tap_names
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer

SENTENCE, TARGET = "The old man doesn't hear two green trees.", "Der Mann, oder?"


def same(one: Trace, other: Trace) -> bool:
    """Bit for bit."""
    names = set(one.tensors) | set(other.tensors)
    return one.source == other.source and all(np.array_equal(one.tensors[n], other.tensors[n]) for n in names)


def test_every_tap_is_there_without_the_batch_axis_and_just_as_the_model_computes_it(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    trace = capture(model, tokenizer, SENTENCE, target=TARGET)
    assert sorted(trace.tensors) == sorted(tap_names(model))
    source, target = tokenizer.encode(SENTENCE), tokenizer.encode(TARGET)
    expected = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]]))[0]
    np.testing.assert_array_equal(trace.logits, expected.numpy())
    assert trace.tensors["encoder.memory_tap"].shape == (len(source) + 1, 20)
    assert trace.tensors["decoder.input.positions_tap"].shape == (len(target) + 1, 20)


def test_two_captures_of_one_sentence_are_bit_identical(model: Transformer, tokenizer: Tokenizer) -> None:
    one, other = (capture(model, tokenizer, SENTENCE, target=TARGET) for _ in range(2))
    assert same(one, other)


def test_a_forced_target_is_what_the_decoder_reads_and_predicts(model: Transformer, tokenizer: Tokenizer) -> None:
    trace = capture(model, tokenizer, SENTENCE, target=TARGET)
    assert (trace.source_text, trace.target_text) == (SENTENCE, TARGET)
    assert [t.id for t in trace.read] == [BOS, *tokenizer.encode(TARGET)]
    assert [t.id for t in trace.predicted] == [*tokenizer.encode(TARGET), EOS]


@pytest.mark.parametrize("decoding", [Decoding(), Decoding("beam", beam=3), Decoding("sample", seed=4)])
def test_without_a_target_the_models_own_translation_is_captured(
    trained: Transformer, tokenizer: Tokenizer, decoding: Decoding
) -> None:
    trace = capture(trained, tokenizer, SENTENCE, decoding=decoding)
    own = translate_ids(trained, prepare(tokenizer, SENTENCE), decoding)
    assert own.ended
    assert [t.id for t in trace.predicted] == [*own.ids, EOS]
    np.testing.assert_allclose(trace.target_log_probabilities(), own.log_probabilities, rtol=0, atol=1e-5)


def test_a_model_in_training_mode_is_refused(tiny: ModelConfig, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match=r"in training mode.*call model\.eval\(\)"):
        trace_of(Transformer(tiny).train(), tokenizer, [5], [6])


def test_a_model_that_could_be_trained_can_be_captured_in_eval_mode(tiny: ModelConfig, tokenizer: Tokenizer) -> None:
    learning = Transformer(replace(tiny, positions="learned")).eval()
    assert all(parameter.requires_grad for parameter in learning.parameters())
    assert trace_of(learning, tokenizer, [5, 6], [7]).logits.shape == (2, 347)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_writing_into_a_trace_leaves_the_model_alone(
    build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer, positions: str
) -> None:
    model = build(replace(tiny, positions=positions))
    first = trace_of(model, tokenizer, [5, 6, 7], [8, 9])
    for array in trace_of(model, tokenizer, [5, 6, 7], [8, 9]).tensors.values():
        array[...] = 1
    assert same(first, trace_of(model, tokenizer, [5, 6, 7], [8, 9]))


def test_four_threads_on_one_model_never_mix_their_sentences(model: Transformer, tokenizer: Tokenizer) -> None:
    generator = torch.Generator().manual_seed(7)
    sentences = [
        tuple(torch.randint(4, 347, (n,), generator=generator).tolist() for n in lengths)
        for lengths in ((3, 7), (9, 2), (12, 5), (6, 10))
    ]
    alone = [trace_of(model, tokenizer, source, target) for source, target in sentences]
    together = threading.Barrier(4)
    right = [0] * 4

    def capture_again_and_again(number: int) -> None:
        for _ in range(200):
            together.wait(timeout=60)
            right[number] += same(trace_of(model, tokenizer, *sentences[number]), alone[number])

    threads = [threading.Thread(target=capture_again_and_again, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [200] * 4


def test_a_text_beyond_the_limit_is_cut_and_what_is_left_out_is_told(tokenizer: Tokenizer) -> None:
    text = " ".join(["house"] * MAX_PIECES)
    per_word = len(tokenizer.encode("house"))
    long = prepare(tokenizer, text)
    assert len(long.ids) == MAX_PIECES
    assert list(long.ids) == tokenizer.encode(text)[:MAX_PIECES]
    assert f"{long.text} {long.left_out}".replace(" ", "") == text.replace(" ", "")
    fits = prepare(tokenizer, " ".join(["house"] * (MAX_PIECES // per_word)))
    assert len(fits.ids) <= MAX_PIECES
    assert fits.left_out == ""


def test_a_text_of_exactly_the_limit_is_not_cut_and_can_be_captured(model: Transformer, tokenizer: Tokenizer) -> None:
    text = "x" * MAX_PIECES
    while len(tokenizer.encode(text)) > MAX_PIECES:
        text = text[1:]
    whole = prepare(tokenizer, text)
    assert whole == Prepared(tuple(tokenizer.encode(text)), text, "")
    assert len(whole.ids) == MAX_PIECES
    trace = capture(model, tokenizer, text, target=text)
    assert len(trace.source) == len(trace.read) == MAX_PIECES + 1


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\x00", "\u200b", "\u2581"])
def test_a_text_with_nothing_to_read_is_refused_in_a_sentence(
    model: Transformer, tokenizer: Tokenizer, text: str
) -> None:
    with pytest.raises(InputError, match="the sentence is empty; type at least one word"):
        capture(model, tokenizer, text)
    with pytest.raises(InputError, match="the target is empty"):
        capture(model, tokenizer, SENTENCE, target=text)


def test_a_saved_capture_is_read_without_pickle_and_holds_tensors_and_labels(
    model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    trace = capture(model, tokenizer, SENTENCE, target=TARGET)
    save(trace, tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz", allow_pickle=False) as found:
        assert sorted(found.files) == sorted([*tap_names(model), "labels"])
        for name, tensor in trace.tensors.items():
            np.testing.assert_array_equal(found[name], tensor)
        labels = json.loads(str(found["labels"]))
    assert [len(labels[name]) for name in ("source", "read", "predicted")] == [
        len(trace.source),
        len(trace.read),
        len(trace.predicted),
    ]
    assert labels["source_text"] == SENTENCE
    assert labels["target_text"] == TARGET
    assert [path.name for path in tmp_path.iterdir()] == ["trace.npz"]


def test_the_command_writes_the_capture_and_says_what_it_holds(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "trace.npz"
    assert main([SENTENCE, "--weights", str(weights), "--out", str(out), "--target", TARGET]) == 0
    said = capsys.readouterr()
    assert SENTENCE in said.out
    assert TARGET in said.out
    assert said.err == ""
    with np.load(out, allow_pickle=False) as found:
        assert json.loads(str(found["labels"]))["target_text"] == TARGET


def test_the_command_refuses_a_missing_parent_folder_before_it_does_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "trace.npz"
    assert main([SENTENCE, "--weights", str(tmp_path / "none"), "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert said.err.splitlines() == [f"error: the folder {out.parent} does not exist; create it first"]
    assert said.out == ""
    assert not out.parent.exists()
