"""A score is the log-probability that a trace of the same pair, and the decoder that wrote it, would give."""

import json
from pathlib import Path

import pytest
import torch

from model.capture import capture, trace_of
from model.config import EOS
from model.data import Pair
from model.decode import Decoding, decode
from model.score import log_probabilities, main
from model.tokenizer import Tokenizer
from model.transformer import Transformer


def test_a_score_is_the_sum_over_the_trace_of_the_pair(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    some = [*pairs[:9], Pair("Hausbaumgarten?!", "x"), Pair("x", "Hausbaumgarten?!")]
    found = log_probabilities(trained, tokenizer, some)
    for pair, score in zip(some, found, strict=True):
        trace = capture(trained, tokenizer, pair.source, target=pair.target)
        assert score == pytest.approx(trace.target_log_probabilities().sum(), abs=1e-5)


@pytest.mark.parametrize("decoding", [Decoding(), Decoding("beam", beam=3), Decoding("sample", seed=2)])
def test_a_translations_score_is_what_its_decoder_reported(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair], decoding: Decoding
) -> None:
    for pair in pairs[:5]:
        source = tokenizer.encode(pair.source)
        written = decode(trained, torch.tensor([[*source, EOS]]), decoding)[0]
        assert written.ended
        trace = trace_of(trained, tokenizer, source, written.ids)
        assert trace.target_log_probabilities().sum() == pytest.approx(written.log_probability, abs=1e-5)
        if tokenizer.encode(tokenizer.decode(written.ids)) == list(written.ids):
            scored = log_probabilities(trained, tokenizer, [Pair(pair.source, tokenizer.decode(written.ids))])
            assert scored[0] == pytest.approx(written.log_probability, abs=1e-5)


def test_scores_do_not_depend_on_company_or_order(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    together = log_probabilities(trained, tokenizer, pairs[:150])
    backwards = log_probabilities(trained, tokenizer, pairs[:150][::-1])
    assert together == pytest.approx(backwards[::-1], abs=1e-5)
    alone = [log_probabilities(trained, tokenizer, [pair])[0] for pair in pairs[:150:30]]
    assert together[::30] == pytest.approx(alone, abs=1e-5)


def test_the_command_prints_one_object_a_line_in_the_order_of_the_file(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["Tom sees the house.\tTom sieht das Haus.", "A small dog draws 25 keys today.\tTom.", "Mary\tMaria"]
    scores = []
    for order in ([0, 1, 2], [2, 0, 1]):
        path = tmp_path / "pairs.tsv"
        path.write_text("".join(f"{lines[i]}\n" for i in order), encoding="utf-8")
        assert main([str(path), "--json", "--weights", str(weights)]) == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert all(list(one) == ["log_probability"] and one["log_probability"] < 0 for one in found)
        scores.append([one["log_probability"] for one in found])
    assert len(set(scores[0])) == 3
    assert [scores[1][1], scores[1][2], scores[1][0]] == pytest.approx(scores[0], abs=1e-5)


def test_the_command_shows_the_pairs_to_a_person(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("Tom sees the house.\tTom sieht das Haus.\n", encoding="utf-8")
    assert main([str(path), "--weights", str(weights)]) == 0
    assert "Tom sees the house. → Tom sieht das Haus." in capsys.readouterr().out


def test_a_pair_beyond_the_limit_is_scored_up_to_it(model: Transformer, tokenizer: Tokenizer) -> None:
    assert log_probabilities(model, tokenizer, [Pair("q" * 300, "z" * 300)])[0] < 0
