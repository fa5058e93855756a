"""The measure is sacreBLEU's own, over translations in the order of the file."""

import json
from pathlib import Path

import pytest
import sacrebleu

from model.data import Pair
from model.decode import Decoding
from model.evaluate import LENGTHS, bleu_of, main, scores, translate_all
from model.tokenizer import Tokenizer
from model.transformer import Transformer

SOURCES = ["one two three", "a b c d e f", "one two", "w " * 25]
WRITTEN = ["eins zwei drei vier", "ein anderer Satz von sechs Wörtern", "eins zwei", "und so weiter und so fort"]
WANTED = ["eins zwei drei fünf", "ein anderer Satz mit sechs Wörtern", "zwei eins", "und so weiter und so fort"]


def test_bleu_and_chrf_are_sacrebleus() -> None:
    found = scores(SOURCES, WRITTEN, WANTED)
    assert found["bleu"] == round(sacrebleu.corpus_bleu(WRITTEN, [WANTED]).score, 2)
    assert found["chrf"] == round(sacrebleu.corpus_chrf(WRITTEN, [WANTED]).score, 2)
    assert found["n"] == 4
    assert "version:" in found["signature"]
    assert bleu_of(WANTED, WANTED) == pytest.approx(100)


def test_intervals_are_sacrebleus_repeat_and_hold_the_score() -> None:
    found = scores(SOURCES * 5, WRITTEN * 5, WANTED * 5, bootstrap=50)
    assert found == scores(SOURCES * 5, WRITTEN * 5, WANTED * 5, bootstrap=50)
    for name, measure in (("bleu", sacrebleu.metrics.BLEU()), ("chrf", sacrebleu.metrics.CHRF())):
        wanted = measure.corpus_score(WRITTEN * 5, [WANTED * 5], n_bootstrap=50).format(score_only=True)
        low, high = found[f"{name}_interval"]
        assert f"(μ = {(low + high) / 2:.2f} ± {(high - low) / 2:.2f})" in wanted
        assert low < found[name] < high
    assert "bs:50" in found["signature"]
    assert "bleu_interval" not in scores(SOURCES, WRITTEN, WANTED)


def test_sentences_are_sorted_into_lengths_that_hold_each_of_them_once() -> None:
    assert [least for least, _ in LENGTHS[1:]] == [most + 1 for _, most in LENGTHS[:-1]]
    found = scores(SOURCES, WRITTEN, WANTED)["by_length"]
    assert [(row["words"], row["n"]) for row in found] == [([1, 5], 2), ([6, 10], 1), ([21, 30], 1)]
    first = [WRITTEN[0], WRITTEN[2]], [WANTED[0], WANTED[2]]
    assert found[0]["bleu"] == round(sacrebleu.corpus_bleu(first[0], [first[1]]).score, 2)


@pytest.mark.parametrize("decoding", [Decoding(), Decoding("beam", beam=2)], ids=["greedy", "beam"])
def test_translations_come_in_the_order_of_the_sentences_whatever_shares_a_batch(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair], decoding: Decoding
) -> None:
    sentences = [pair.source for pair in pairs[:70]]
    together = translate_all(trained, tokenizer, sentences, decoding)
    assert len(set(together)) > 5
    for i in range(0, 70, 23):
        assert translate_all(trained, tokenizer, [sentences[i]], decoding) == [together[i]]


def test_an_empty_sentence_and_a_very_long_one_do_not_stop_the_others(
    trained: Transformer, tokenizer: Tokenizer
) -> None:
    found = translate_all(trained, tokenizer, ["The cat sees the house.", "", "house " * 400])
    assert len(found) == 3
    assert found[0] == translate_all(trained, tokenizer, ["The cat sees the house."])[0]


@pytest.fixture
def file(tmp_path: Path, pairs: list[Pair]) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs[:12]), encoding="utf-8")
    return path


@pytest.mark.parametrize("given", [[], ["--beam", "2"], ["--limit", "5"]], ids=["greedy", "beam", "limit"])
def test_the_last_line_of_the_command_is_one_object(
    weights: Path, file: Path, capsys: pytest.CaptureFixture[str], given: list[str]
) -> None:
    assert main([str(file), "--json", *given, "--weights", str(weights)]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(found) == {"bleu", "chrf", "signature", "n", "by_length"}
    assert found["n"] == (5 if "--limit" in given else 12)
    assert 0 <= found["bleu"] <= 100
    assert 0 < found["chrf"] <= 100
    assert sum(row["n"] for row in found["by_length"]) == found["n"]


def test_without_json_the_command_shows_translations_and_scores(
    weights: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(file), "--weights", str(weights)]) == 0
    said = capsys.readouterr().out
    assert "BLEU" in said
    assert "on 12 pairs" in said
