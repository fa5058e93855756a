"""The error rate of an alignment, and what is read off cross-attention, against loops that say it word by word."""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model import checkpoint
from model.align import error_rates, main, readings
from model.alignment import Reading, aer, links, strengths
from model.capture import trace_of
from model.command import InputError
from model.config import ModelConfig
from model.gold import Gold, encode_tokens
from model.inside import output_projection
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer

H, K, D = 5, 4, 20
SOURCE = [[0, 1], [2], [], [3, 4, 5], [5, 6]]  # a word without a piece, and a piece that belongs to two words
GOLD = [
    Gold(
        tuple("The old man does n't hear two green trees !".split()),
        tuple("Der alte Mann hört zwei grüne Bäume nicht !".split()),
        frozenset({(s, t) for s in range(10) for t in range(9) if (s + t) % 3}),  # many, so that each head finds some
    ),
    Gold(
        ("Tom", "draws", "25", "keys"),
        ("Tom", "zeichnet", "ja", "Schlüssel"),
        frozenset({(0, 0), (1, 1), (2, 1), (1, 2), (3, 3)}),
        possible=frozenset({(0, 1), (0, 2), (1, 3), (2, 3)}),
    ),
]
LINES = [
    "The old man sees Mary .\tDer alte Mann sieht Maria .\t0-0 1-1 2-2 3-3 4-4 5-5",
    "Tom draws two green trees .\tTom zeichnet zwei grüne Bäume .\t0-0 1-1 2-2 3-3 4-4 5-5",
    "A small dog looks for 25 keys !\tEin kleiner Hund sucht 25 Schlüssel !\t0-0 1-1 2-2 3-3 4-3 5-4 6-5 7-6",
]


def loop_strengths(model: Transformer, trace: Trace, reading: Reading, source: list[list[int]]) -> Array:
    """From what the attention was given and its matrices: W_V and b_V, then the rows of W_O of each head, no b_O."""
    attention = model.attention("cross", reading.layer)
    weights = trace.attention("cross", reading.layer, "weights").astype(np.float64)
    values = trace.tensors["encoder.memory_tap"].astype(np.float64) @ attention.value.weight.double().numpy().T
    values += attention.value.bias.double().numpy()
    output = attention.output.weight.double().numpy()  # (D, D), applied as x W^T
    found = np.zeros((len(trace.read) - 1, len(source)))
    for piece, word in np.ndindex(found.shape):
        row = piece + (1 if reading.rows == "read" else 0)  # <s> is read first
        weight, vector = 0.0, np.zeros(D)
        for head in range(H):
            if reading.head in (None, head + 1):
                of_head = slice(K * head, K * head + K)
                for column in source[word]:
                    weight += weights[head, row, column]
                    vector += weights[head, row, column] * (output[:, of_head] @ values[column, of_head])
        found[piece, word] = weight if reading.by == "weight" else math.hypot(*vector)
    return found


def loop_links(strength: Array, source: list[list[int]], target: list[list[int]]) -> set[tuple[int, int]]:
    found = set()
    for word, pieces in enumerate(target):
        means = {s: sum(strength[p, s] for p in pieces) / len(pieces) for s, group in enumerate(source) if group}
        found.add((max(means, key=lambda s: means[s]), word))
    return found


def with_cross(trace: Trace, what: str, array: Array) -> Trace:
    """The trace with this tensor in cross layer 2."""
    return replace(trace, tensors={**trace.tensors, f"decoder.layers.2.cross_attention.{what}_tap": array})


def alone(pieces: int) -> list[list[int]]:
    """Each piece a word."""
    return [[piece] for piece in range(pieces)]


def test_the_error_rate_counts_links_that_agree_twice() -> None:
    found, sure = frozenset({(0, 0), (1, 1), (2, 2)}), frozenset({(0, 0), (2, 2), (2, 1), (3, 3), (3, 4)})
    assert aer(found, sure) == (4, 8)  # AER = 1 - 4 / 8
    assert aer(sure, sure) == (10, 10)
    assert aer(frozenset(), sure) == (0, 5)


def test_every_layer_and_head_is_read_in_four_ways(model: Transformer) -> None:
    found = list(readings(model))
    assert len(set(found)) == len(found) == 2 * (H + 1) * 2 * 2
    assert {reading.layer for reading in found} == {1, 2}
    assert {reading.head for reading in found} == {None, 1, 2, 3, 4, 5}


def test_strengths_are_sums_over_pieces_and_heads_of_weights_or_of_vectors_before_their_norm(
    model: Transformer, trace: Trace
) -> None:
    for reading in readings(model):
        found = strengths(trace, output_projection(model, "cross", reading.layer), reading, SOURCE)
        assert found.shape == (len(trace.predicted) - 1, len(SOURCE))
        np.testing.assert_allclose(found, loop_strengths(model, trace, reading, SOURCE), rtol=1e-5, atol=1e-6)


def test_vectors_that_cancel_out_have_no_strength_whatever_their_weight(model: Transformer, trace: Trace) -> None:
    values = np.zeros((H, len(trace.source), K), dtype=np.float32)
    values[:, 0], values[:, 1], values[:, 2] = 1.0, -1.0, 0.1
    weights = np.full((H, len(trace.read), len(trace.source)), 0.05, dtype=np.float32)
    given = with_cross(with_cross(trace, "weights", weights), "values", values)
    projection, source = output_projection(model, "cross", 2), [[0, 1], [2]]
    assert strengths(given, projection, Reading(2, None, "weight", "read"), source)[0].argmax() == 0
    assert strengths(given, projection, Reading(2, None, "norm", "read"), source)[0, 0] == pytest.approx(0, abs=1e-12)
    assert strengths(given, projection, Reading(2, 4, "norm", "read"), source)[0].argmax() == 1


@pytest.mark.parametrize("by", ["weight", "norm"])
@pytest.mark.parametrize("head", [None, 3])
def test_a_row_stands_for_the_piece_it_reads_or_the_one_it_predicts(
    model: Transformer, trace: Trace, head: int | None, by: str
) -> None:
    """Row t looks at column t, and at </s> most of all."""
    T, S = len(trace.read), len(trace.source)
    weights = np.zeros((H, T, S), dtype=np.float32)
    weights[:, range(T), range(T)], weights[..., -1] = 0.3, 0.7
    values = np.ones((H, S, K), dtype=np.float32)
    given = with_cross(with_cross(trace, "weights", weights), "values", values)
    words, projection = alone(T - 1), output_projection(model, "cross", 2)
    for rows, shift in (("predicted", 0), ("read", 1)):
        strength = strengths(given, projection, Reading(2, head, by, rows), alone(S - 1))
        assert links(strength, alone(S - 1), words) == {(word + shift, word) for word in range(T - 1)}


def test_a_target_word_holds_to_what_its_pieces_hold_to_in_the_mean() -> None:
    strength = np.array([[0.9, 0.5, 0.0], [0.0, 0.5, 0.0], [0.0, 0.5, 0.9], [0.1, 0.2, 0.3]])
    assert links(strength, alone(3), [[0, 1, 2], [3]]) == {(1, 0), (2, 1)}
    assert links(strength, alone(3), [[0], [1], [2, 3]]) == {(0, 0), (1, 1), (2, 2)}


def test_words_without_a_piece_take_part_on_neither_side() -> None:
    strength = np.array([[0.9, -1.0, -2.0], [0.9, -2.0, -1.0]])
    assert links(strength, [[], [0], [1]], [[0], [], [1]]) == {(1, 0), (2, 2)}
    assert links(strength, [[], [], []], [[0], [1]]) == frozenset()
    assert links(np.zeros((2, 0)), [], [[0], [1]]) == frozenset()


def test_error_rates_are_those_of_loops_over_all_pairs_together(
    build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer
) -> None:
    model = build(tiny)
    for layer in (1, 2):
        model.attention("cross", layer).query.weight.mul_(20)  # heads that differ, and do not look everywhere alike
    encoded = [(pair, encode_tokens(tokenizer, pair.source), encode_tokens(tokenizer, pair.target)) for pair in GOLD]
    assert len({len(ids) for _, source, target in encoded for ids, _ in (source, target)}) == 4
    traces = [trace_of(model, tokenizer, source[0], target[0]) for _, source, target in encoded]
    expected = {}
    for reading in readings(model):
        agreed, all_links = 0, 0
        for trace, (pair, (_, source), (_, target)) in zip(traces, encoded, strict=True):
            found = loop_links(loop_strengths(model, trace, reading, source), source, target)
            agreed += sum(2 if link in pair.sure else link in pair.possible for link in found)
            all_links += len(found) + len(pair.sure)
        expected[reading] = 100 * (1 - agreed / all_links)
    assert len(set(expected.values())) > 5
    assert error_rates(model, tokenizer, GOLD) == pytest.approx(expected)


def test_a_pair_beyond_the_models_limit_is_left_out_and_nothing_left_is_an_error(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    long = Gold(("q" * 300,), ("Tom",), frozenset({(0, 0)}))
    assert error_rates(model, tokenizer, [long, *GOLD]) == error_rates(model, tokenizer, GOLD)
    for nothing in (long, Gold(("\u200b",), ("\u200b",), frozenset())):
        with pytest.raises(InputError, match="no pair of words to compare: every sentence is beyond 256 pieces"):
            error_rates(model, tokenizer, [nothing])


@pytest.fixture
def uneven(build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """A weights folder in which cross-attention heads differ, and do not look everywhere alike."""
    model = build(tiny)
    for layer in (1, 2):
        model.attention("cross", layer).query.weight.mul_(20)
    checkpoint.save(tmp_path / "uneven", tiny, model.state_dict(), tokenizer)
    return tmp_path / "uneven"


@pytest.fixture
def run(uneven: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    """Runs the command on LINES and gives back the object it printed: `run("--skip", "1", weights=folder)`."""
    path = tmp_path / "gold.tsv"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")

    def align(*options: str, weights: Path = uneven) -> dict[str, object]:
        assert main([str(path), "--json", "--weights", str(weights), *options]) == 0
        found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        assert isinstance(found, dict)
        return found

    return align


def test_the_command_prints_every_reading_and_the_best(run: Callable[..., dict[str, list[dict[str, float]]]]) -> None:
    found = run()
    assert list(found) == ["n", "heads", "best", "selected"]
    assert (found["n"], found["selected"]) == (3, None)
    assert len(found["heads"]) == 48
    assert all(list(row) == ["kind", "layer", "head", "by", "rows", "aer"] for row in found["heads"])
    assert {row["kind"] for row in found["heads"]} == {"cross"}
    assert found["best"] in found["heads"]
    rates = [row["aer"] for row in found["heads"]]
    assert found["best"]["aer"] == min(rates) < max(rates)
    assert all(0 <= rate <= 100 for rate in rates)


def test_skip_and_limit_choose_lines(run: Callable[..., dict[str, object]]) -> None:
    rates = {}
    for options in ("", "--limit 1", "--skip 1", "--skip 1 --limit 1", "--skip 2"):
        found = run(*options.split())
        rates[options] = found["heads"]
        assert found["n"] == {"": 3, "--skip 1": 2}.get(options, 1)
    some = [json.dumps(heads) for heads in rates.values()]
    assert len(set(some)) == len(some)


def named(weights: Path, tmp_path: Path, content: str) -> Path:
    """A copy of the weights folder that names a reading."""
    folder = shutil.copytree(weights, tmp_path / "named")
    (folder / "alignment.json").write_text(content, encoding="utf-8")
    return Path(folder)


@pytest.mark.parametrize("head", [None, 4])
def test_selected_is_the_reading_that_the_weights_folder_names(
    run: Callable[..., dict[str, object]], weights: Path, tmp_path: Path, head: int | None
) -> None:
    chosen = {"layer": 2, "head": head, "by": "norm", "rows": "read"}
    found = run(weights=named(weights, tmp_path, json.dumps(chosen)))
    assert isinstance(found["heads"], list)
    rows = [row for row in found["heads"] if {name: row[name] for name in chosen} == chosen]
    assert rows == [found["selected"]]


def one_error(capsys: pytest.CaptureFixture[str], arguments: Sequence[str | Path]) -> str:
    """The one line on stderr of a call that must fail."""
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    return said.err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"layer": 9, "head": 1, "by": "norm", "rows": "read"}', "0 fit {'layer': 9"),
        ('{"layer": 1, "head": 1, "by": "norm"}', "2 fit {'layer': 1"),
        ('["norm"]', "0 fit ['norm']"),
        ("{", "not readable as JSON"),
    ],
)
def test_a_named_reading_that_is_not_there_is_said_in_one_line(
    content: str, complaint: str, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text(LINES[0], encoding="utf-8")
    folder = named(weights, tmp_path, content)
    said = one_error(capsys, [path, "--weights", folder])
    assert said.startswith(f"error: {folder / 'alignment.json'}")
    assert complaint in said


def test_bad_input_is_said_in_one_line(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text(f"{LINES[0]}\nno tab\n", encoding="utf-8")
    assert f"{path}, line 2: 0 tabs" in one_error(capsys, [path, "--weights", weights])
    assert str(tmp_path / "none") in one_error(capsys, [tmp_path / "none", "--weights", weights])
    assert str(tmp_path) in one_error(capsys, [tmp_path, "--weights", weights])
    path.write_text(LINES[0], encoding="utf-8")
    assert "no weights folder" in one_error(capsys, [path, "--weights", tmp_path / "none"])
    assert "--skip 1 leaves nothing" in one_error(capsys, [path, "--weights", weights, "--skip", "1"])
    path.write_text(f"{'q' * 300}\tTom\t0-0\n", encoding="utf-8")
    assert "beyond 256 pieces" in one_error(capsys, [path, "--weights", weights, "--json"])


def test_for_a_person_the_best_come_first(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("\n".join(LINES), encoding="utf-8")
    assert main([str(path), "--weights", str(weights)]) == 0
    lines = capsys.readouterr().out.splitlines()
    rates = [float(line.split()[1]) for line in lines]
    assert len(rates) == 15
    assert rates == sorted(rates)
    assert all("cross layer" in line and "head" in line for line in lines)


def test_encoder_and_decoder_may_differ_in_depth(build: Callable[..., Transformer], tokenizer: Tokenizer) -> None:
    deep = build(ModelConfig(347, d_model=D, n_heads=H, d_ff=37, encoder_layers=1, decoder_layers=3))
    assert {reading.layer for reading in error_rates(deep, tokenizer, GOLD)} == {1, 2, 3}
