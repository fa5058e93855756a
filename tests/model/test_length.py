"""Past the training length: what is joined, what is measured on it, and the report that stands beside the weights."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import sacrebleu

from model import length, length_report
from model.data import Pair
from model.evaluate import translate_all
from model.length_report import HeadHabit, Length, LengthReport
from model.report import ReportError
from model.taps import heard
from model.tokenizer import Tokenizer
from model.trace import KINDS
from model.transformer import Transformer


def test_groups_follow_the_file_and_leave_no_half_one() -> None:
    assert length.places(7, 3) == [range(3), range(3, 6)]
    assert length.places(7, 1) == [range(i, i + 1) for i in range(7)]
    assert length.places(2, 3) == []
    group = [Pair("a b", "A"), Pair("c", "B C")]
    assert length.as_one(group) == Pair("a b c", "A B C")


def test_bleu_is_of_whole_inputs_and_of_their_sentences_one_by_one(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    some = pairs[:7]
    alone = translate_all(trained, tokenizer, [pair.source for pair in some])
    found = length.measure(trained, tokenizer, some, alone, 3)
    assert found is not None
    assert (found.joined, found.n) == (3, 2)
    wholes = [" ".join(pair.source for pair in some[at : at + 3]) for at in (0, 3)]
    references = [[" ".join(pair.target for pair in some[at : at + 3]) for at in (0, 3)]]
    whole = sacrebleu.corpus_bleu(translate_all(trained, tokenizer, wholes), references)
    apart = sacrebleu.corpus_bleu([" ".join(alone[at : at + 3]) for at in (0, 3)], references)
    assert (found.bleu, found.apart) == (round(whole.score, 2), round(apart.score, 2))
    assert found.ratio == round(whole.sys_len / whole.ref_len, 3)
    assert found.words == round(sum(len(text.split()) for text in wholes) / 2, 1)
    assert found.pieces == round(sum(len(tokenizer.encode(text)) for text in wholes) / 2, 1)


def test_sentences_are_put_together_in_their_own_order(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    found = length.measure(trained, tokenizer, pairs[:6], [pair.target for pair in pairs[:6]], 3)
    assert found is not None
    assert found.apart == 100.0


def test_every_head_is_watched_under_its_own_name(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    found = length.watched(trained, tokenizer, pairs[:3])
    layers = {"encoder": 3, "masked": 2, "cross": 2}
    expected = [(k, n, h) for k in KINDS for n in range(1, layers[k] + 1) for h in range(1, 6)]
    assert [(habit.kind, habit.layer, habit.head) for habit in found] == expected
    for habit in found:
        shares = [habit.previous, habit.same, habit.next]
        assert habit.entropy is not None
        assert 0 <= habit.entropy <= 1
        assert all(share is None or 0 <= share <= 1 for share in shares)
        assert (habit.kind == "cross") == (shares == [None] * 3)


def test_inputs_beyond_the_limit_are_left_out(trained: Transformer, tokenizer: Tokenizer) -> None:
    long = [Pair("The old man sees. " * 30, "Haus.")] * 4
    assert length.measure(trained, tokenizer, long, ["x"] * 4, 4) is None


def test_from_the_first_position_nothing_is_moved(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    some = pairs[:6]
    written = translate_all(trained, tokenizer, [pair.source for pair in some])
    score = sacrebleu.corpus_bleu(written, [[pair.target for pair in some]]).score
    first = length.shifted(trained, tokenizer, some, 1)
    assert first is not None
    assert (first.start, first.bleu) == (1, round(score, 2))
    assert length.shifted(trained, tokenizer, some, 250) is None


def test_a_later_start_adds_later_positions_in_the_encoder_only(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the tap is given in place of its tensor is caught on the way."""
    given = {}

    def caught(listener, call, *args):  # type: ignore[no-untyped-def]
        def both(name, tensor):  # type: ignore[no-untyped-def]
            replacement = listener(name, tensor)
            if name.endswith("positions_tap"):
                given[name] = replacement
            return replacement

        return heard(both, call, *args)

    monkeypatch.setattr(length, "heard", caught)
    length.shifted(trained, tokenizer, pairs[:1], 12)
    places = given["encoder.input.positions_tap"]
    table = trained.encoder.input.positions
    assert given["decoder.input.positions_tap"] is None
    assert (places[0] == table[11 : 11 + places.shape[1]]).all()


@pytest.fixture
def folder(weights: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(weights, tmp_path / "weights", ignore=shutil.ignore_patterns("SHA256SUMS")))


@pytest.fixture
def file(pairs: list[Pair], tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs[:4]), encoding="utf-8")
    return path


def test_the_command_writes_a_report_that_is_read_back(
    folder: Path, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "JOINED", (1, 2))
    monkeypatch.setattr(length, "STARTS", (1, 21))
    assert length.main([str(file), "--weights", str(folder), "--trained", "12"]) == 0
    assert not (folder / "length.json").exists()
    assert length.main([str(file), "--weights", str(folder), "--save", "--trained", "12"]) == 0
    found = length_report.load(folder)
    assert (found.file, found.sentences, found.trained_words) == ("pairs.tsv", 4, 12)
    assert [(row.joined, row.n) for row in found.lengths] == [(1, 4), (2, 2)]
    assert [row.start for row in found.starts] == [1, 21]
    assert "single sentences from position 21" in capsys.readouterr().out
    assert found.trained_pieces == pytest.approx(12 * found.lengths[1].pieces / found.lengths[1].words)


def test_a_report_of_other_weights_is_noticed_and_so_is_a_damaged_or_missing_one(
    folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "JOINED", (1,))
    monkeypatch.setattr(length, "STARTS", (1,))
    with pytest.raises(ReportError, match="nobody has measured"):
        length_report.load(folder)
    assert length.main([str(file), "--weights", str(folder), "--save"]) == 0
    path = folder / "length.json"
    said = json.loads(path.read_text())
    for broken in ("{", "[]", json.dumps(said | {"lengths": [{}]}), json.dumps(said | {"more": 1})):
        path.write_text(broken)
        with pytest.raises(ReportError, match="cannot be read"):
            length_report.load(folder)
    path.write_text(json.dumps(said | {"weights": "0"}))
    with pytest.raises(ReportError, match="other weights"):
        length_report.load(folder)


def test_bad_input_is_said_in_one_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert length.main([str(tmp_path / "none.tsv"), "--weights", str(folder)]) == 2
    long = tmp_path / "long.tsv"
    long.write_text("The old man sees. " * 90 + "\tHaus.\n", encoding="utf-8")
    assert length.main([str(long), "--weights", str(folder)]) == 2
    assert "beyond 256 pieces" in capsys.readouterr().err


def habits(*shares: tuple[float, float, float]) -> tuple[HeadHabit, ...]:
    own = [HeadHabit("encoder", 1, n, *of_head, entropy=0.5) for n, of_head in enumerate(shares, start=1)]
    return (*own, HeadHabit("cross", 1, 1, None, None, None, entropy=0.5))


def test_a_head_keeps_its_place_if_its_favourite_stays_the_same() -> None:
    short, long = habits((0.6, 0.1, 0.1), (0.1, 0.1, 0.2)), habits((0.4, 0.2, 0.2), (0.0, 0.3, 0.6))
    assert [one.favourite for one in short] == ["previous", "elsewhere", "elsewhere"]
    assert [one.favourite for one in long] == ["previous", "next", "elsewhere"]
    first = Length(1, 9, 8.0, 6.0, 20.0, 20.0, 1.0, short)
    report = LengthReport("", "", 9, 30, (first, replace(first, joined=2, heads=long)), ())
    assert report.kept(report.lengths[0]) == (2, 2)
    assert report.kept(report.lengths[1]) == (1, 2)
