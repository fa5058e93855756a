"""Each number about a head is what loops over rows and columns count, for all three kinds and unequal lengths."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model.capture import trace_of
from model.command import InputError
from model.config import ModelConfig
from model.data import Pair
from model.heads import Counts, main, statistics, traces, untrained
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, Trace
from model.transformer import Transformer

LAYERS = {"encoder": 3, "masked": 2, "cross": 2}
H = 5
PAIRS = [
    Pair("The old man, doesn't he hear two green trees?", "Der alte Mann, oder?"),
    Pair("Tom sees!", "Tom sieht heute im Garten 25 (oder zwei) grüne Bäume."),
    Pair("q", "x"),
]
POSITIONS = ["distance", "previous", "same", "next"]
NUMBERS = ["entropy_bits", "entropy_of_uniform", *POSITIONS, "confidence", "special", "marks"]
TREES = "\n".join(
    [
        "1\tTom\t_\t_\t_\t_\t2\tnsubj\t_\t_",
        "2\tsees\t_\t_\t_\t_\t0\troot\t_\t_",
        "3\tMary\t_\t_\t_\t_\t2\tobj\t_\tSpaceAfter=No",
        "4\t.\t_\t_\t_\t_\t2\tpunct\t_\t_",
    ]
)
GOLD = "Tom sees Mary .\tTom sieht Maria .\t0-0 1-1 2-2 3-3\n"


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def loop_numbers(corpus: Sequence[Trace], kind: str, layer: int, head: int) -> dict[str, float]:
    """Everything that is said of a head, from its maps, row by row."""
    rows: dict[str, list[float]] = {name: [] for name in NUMBERS}
    for trace in corpus:
        shown = trace.map(kind, layer, head)
        for t, looks in enumerate(shown.rows):
            weights = [float(weight) for weight in shown.weights[t]]
            entropy = -sum(w * math.log2(w) for w in weights if w > 0)
            rows["entropy_bits"].append(entropy)
            possible = t + 1 if kind == "masked" else len(weights)
            if possible > 1:
                rows["entropy_of_uniform"].append(entropy / math.log2(possible))
            rows["distance"].append(sum(w * abs(s - t) for s, w in enumerate(weights)))
            for name, offset in (("previous", -1), ("same", 0), ("next", 1)):
                rows[name].append(float(weights.index(max(weights)) == t + offset))
            named = list(zip(weights, shown.columns, strict=True))
            rows["special"].append(sum(w for w, token in named if token.text in ("<s>", "</s>")))
            rows["marks"].append(sum(w for w, token in named if token.word in list(".,!?()")))
            if looks.text not in ("<s>", "</s>"):
                rows["confidence"].append(max(w for w, token in named if token.text not in ("<s>", "</s>")))
    return {name: mean(found) for name, found in rows.items()}


@pytest.fixture(scope="module")
def sharp(tiny: ModelConfig) -> Transformer:
    """A random model whose heads differ: most weight of a row is on few columns."""
    with torch.random.fork_rng():
        torch.manual_seed(4)
        made = Transformer(tiny).eval().requires_grad_(False)
        for kind, layers in LAYERS.items():
            for layer in range(1, layers + 1):
                made.attention(kind, layer).query.weight.mul_(4)
    return made


@pytest.fixture(scope="module")
def corpus(sharp: Transformer, tokenizer: Tokenizer) -> list[Trace]:
    return list(traces(sharp, tokenizer, PAIRS))


def test_the_corpus_is_worth_counting_over(corpus: list[Trace]) -> None:
    lengths = [(len(trace.source), len(trace.read)) for trace in corpus]
    assert len({length for both in lengths for length in both}) == 5
    for trace in corpus[:2]:
        for kind in KINDS:
            assert any(token.is_punctuation for token in trace.labels(kind)[1])


def test_every_number_of_every_head_is_what_loops_count(
    sharp: Transformer, tokenizer: Tokenizer, corpus: list[Trace]
) -> None:
    found = statistics(sharp, tokenizer, PAIRS)["heads"]
    places = [(kind, layer, head) for kind in KINDS for layer in range(1, LAYERS[kind] + 1) for head in range(1, H + 1)]
    assert [(row["kind"], row["layer"], row["head"]) for row in found] == places
    for row, place in zip(found, places, strict=True):
        assert list(row) == ["kind", "layer", "head", *NUMBERS]
        for name, number in loop_numbers(corpus, *place).items():
            if place[0] == "cross" and name in POSITIONS:
                assert row[name] is None
            else:
                assert row[name] == pytest.approx(number, abs=6e-5), name
    for name in NUMBERS:
        assert len({row[name] for row in found}) > 3


def test_a_head_that_looks_everywhere_alike_has_the_entropy_of_a_uniform_row(
    tiny: ModelConfig, tokenizer: Tokenizer
) -> None:
    """In masked attention too, where the first row has no choice and later ones have more and more."""
    model = untrained(Transformer(tiny))
    for kind, layers in LAYERS.items():
        for layer in range(1, layers + 1):
            model.attention(kind, layer).query.weight.zero_()
            model.attention(kind, layer).query.bias.zero_()
    corpus = list(traces(model, tokenizer, PAIRS))
    sizes = {"encoder": [len(t.source) for t in corpus], "masked": [len(t.read) for t in corpus]}
    for row in statistics(model, tokenizer, PAIRS)["heads"]:
        assert row["entropy_of_uniform"] == pytest.approx(1, abs=1e-4)
        if row["kind"] == "encoder":
            words = sum(size - 1 for size in sizes["encoder"])
            confidence = sum((size - 1) / size for size in sizes["encoder"]) / words
            assert row["confidence"] == pytest.approx(confidence, abs=1e-4)
            assert row["special"] == pytest.approx(len(PAIRS) / sum(sizes["encoder"]), abs=1e-4)
        if row["kind"] == "masked":
            to_start = sum(1 / (t + 1) for size in sizes["masked"] for t in range(size)) / sum(sizes["masked"])
            assert row["special"] == pytest.approx(to_start, abs=1e-4)


def with_weights(trace: Trace, kind: str, weights: Array) -> Trace:
    """The trace with these weights (T, S) in every head of every layer of one kind."""
    name = {"encoder": "encoder.layers.{}.self", "masked": "decoder.layers.{}.self", "cross": "decoder.layers.{}.cross"}
    given = np.broadcast_to(weights, (H, *weights.shape)).astype(np.float32)
    layers = range(1, LAYERS[kind] + 1)
    changed = {f"{name[kind].format(layer)}_attention.weights_tap": given for layer in layers}
    return replace(trace, tensors={**trace.tensors, **changed})


@pytest.mark.parametrize(("name", "offset"), [("previous", -1), ("same", 0), ("next", 1)])
def test_a_head_that_looks_at_one_place_beside_itself_is_found_in_its_share(
    trace: Trace, name: str, offset: int
) -> None:
    rows = len(trace.source)
    beside = np.eye(rows)[np.clip(np.arange(rows) + offset, 0, rows - 1)]  # at the edge, itself
    counts = Counts()
    counts.add(with_weights(trace, "encoder", beside), "encoder", np.arange(rows))
    found = counts.rows("encoder")[7]
    edge = abs(offset) / rows
    expected = {"previous": 0.0, "same": edge, "next": 0.0, name: 1 - edge if offset else 1.0}
    assert {n: found[n] for n in ("previous", "same", "next")} == pytest.approx(expected, abs=1e-4)
    assert found["distance"] == pytest.approx(abs(offset) * (1 - edge), abs=1e-4)
    assert found["entropy_bits"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_confidence_is_about_words_that_look_at_words(trace: Trace, kind: str) -> None:
    """Special rows look sharply at a word, other rows most of all at a special column: neither is confidence."""
    rows, columns, _ = trace.labels(kind)
    weights = np.full((len(rows), len(columns)), 0.01)
    weights[:, [token.special for token in columns]] = 0.7
    weights[:, 2] = 0.2
    weights[[token.special for token in rows], 2] = 1.0
    counts = Counts()
    counts.add(with_weights(trace, kind, weights), kind, np.arange(len(rows)))
    assert counts.rows(kind)[6]["confidence"] == pytest.approx(0.2, abs=1e-4)


def test_in_random_order_rows_keep_what_they_are_and_lose_where_they_look(
    sharp: Transformer, tokenizer: Tokenizer
) -> None:
    found = statistics(sharp, tokenizer, PAIRS)
    for row, shuffled in zip(found["heads"], found["shuffled"], strict=True):
        for name in ("kind", "layer", "head", *NUMBERS):
            if name not in POSITIONS:
                assert shuffled[name] == pytest.approx(row[name], abs=1.1e-4), name
        if row["kind"] != "cross":
            assert [shuffled[name] for name in POSITIONS] != [row[name] for name in POSITIONS]
    assert any(row["next"] for row in found["shuffled"] if row["kind"] == "masked")  # it may look at its future
    assert not any(row["next"] for row in found["heads"] if row["kind"] == "masked")


def test_shuffling_takes_a_positional_head_for_none(trace: Trace) -> None:
    rows = len(trace.source)
    counts = Counts()
    order = np.random.default_rng(2).permutation(rows)
    counts.add(with_weights(trace, "encoder", np.eye(rows)), "encoder", order)
    assert counts.rows("encoder")[0]["same"] == pytest.approx(mean([order[t] == t for t in range(rows)]), abs=1e-4)
    assert counts.rows("encoder")[0]["same"] < 0.3


def test_the_same_corpus_always_gives_the_same_numbers(sharp: Transformer, tokenizer: Tokenizer) -> None:
    assert statistics(sharp, tokenizer, PAIRS) == statistics(sharp, tokenizer, PAIRS)


def test_pairs_that_are_empty_or_too_long_are_left_out_and_nothing_left_is_an_error(
    sharp: Transformer, tokenizer: Tokenizer
) -> None:
    out = [Pair("q" * 300, "x"), Pair("x", "q" * 300), Pair("\u200b", "x"), Pair("x", "\u200b")]
    assert statistics(sharp, tokenizer, [*out, *PAIRS]) == statistics(sharp, tokenizer, PAIRS)
    with pytest.raises(InputError, match="every sentence pair is beyond 256 pieces, or empty"):
        statistics(sharp, tokenizer, out)


def test_the_untrained_model_is_always_the_same_of_the_same_shape_and_costs_no_randomness(sharp: Transformer) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(7)
        before = torch.random.get_rng_state()
        first = untrained(sharp)
        assert torch.equal(torch.random.get_rng_state(), before)
        torch.manual_seed(8)
        again = untrained(sharp)
    assert first.config == sharp.config
    assert not first.training
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])
    assert not torch.equal(first.embedding.weight, sharp.embedding.weight)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "pairs.tsv": "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS),
        "trees.conllu": "\n\n".join([TREES] * 110),
        "gold.tsv": GOLD,
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return {name.split(".")[0]: tmp_path / name for name in contents}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, list[dict[str, object]]]:
    assert main([str(argument) for argument in (*arguments, "--json")]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert isinstance(found, dict)
    return found


def test_the_command_prints_heads_and_both_baselines(
    files: dict[str, Path], weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, files["pairs"], "--weights", weights)
    assert list(found) == ["n", "heads", "shuffled", "untrained"]
    assert found["n"] == len(PAIRS)
    for name in ("heads", "shuffled", "untrained"):
        assert [row["kind"] for row in found[name]] == ["encoder"] * 15 + ["masked"] * 10 + ["cross"] * 10
        assert all(list(row) == ["kind", "layer", "head", *NUMBERS] for row in found[name])
    assert found["heads"] != found["untrained"]
    assert printed(capsys, files["pairs"], "--weights", weights, "--limit", "2")["n"] == 2


def test_with_trees_and_alignments_heads_have_a_relation_and_an_error_rate(
    files: dict[str, Path], weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--syntax", files["trees"], "--align", files["gold"])
    found = printed(capsys, files["pairs"], "--limit", "1", "--weights", weights, *options)
    ways = {"weight, rows read", "weight, rows predicted", "norm, rows read", "norm, rows predicted"}
    for name in ("heads", "untrained"):
        for row in found[name]:
            relation, rates = row["relation"], row.get("aer")
            if row["kind"] == "encoder":
                assert isinstance(relation, dict)
                assert set(relation) == {"relation", "accuracy", "best_offset"}
                assert relation["best_offset"] == 1.0  # all trees are alike
            else:
                assert relation is None
            assert (set(rates) if isinstance(rates, dict) else None) == (ways if row["kind"] == "cross" else None)


def test_for_a_person_it_is_a_table_with_a_line_for_each_head(
    files: dict[str, Path], weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, files["pairs"], "--weights", weights)
    assert main([str(files["pairs"]), "--weights", str(weights)]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 35
    assert {len(line) for line in lines} == {len(title)}
    for line, row in zip(lines, found["heads"], strict=True):
        kind, layer, head, *numbers = line.split()
        assert [kind, int(layer), int(head)] == [row["kind"], row["layer"], row["head"]]
        for shown, name in zip(numbers, NUMBERS, strict=True):
            assert shown == ("–" if row[name] is None else f"{row[name]:.2f}")


@pytest.mark.parametrize(
    ("broken", "content", "complaint"),
    [
        ("pairs", "no tab\n", "line 1: no tab"),
        ("pairs", f"{'q' * 300}\tx\n", "every sentence pair is beyond 256 pieces"),
        ("trees", "no tree\n", "sentence 1: a line without ten columns"),
        ("gold", "no tab\n", "line 1: 0 tabs"),
        ("gold", f"{'q' * 300}\tx\t0-0\n", "beyond 256 pieces"),
    ],
)
def test_bad_input_is_said_in_one_line(
    broken: str,
    content: str,
    complaint: str,
    files: dict[str, Path],
    weights: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files[broken].write_text(content, encoding="utf-8")
    options = ["--weights", str(weights), "--syntax", str(files["trees"]), "--align", str(files["gold"])]
    assert main([str(files["pairs"]), *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("error: ")
    assert complaint in said.err


def test_a_file_that_is_missing_is_said_by_name(
    files: dict[str, Path], weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--syntax", "--align"):
        assert main([str(files["pairs"]), "--weights", str(weights), option, "none.txt"]) == 2
        assert capsys.readouterr().err == "error: none.txt: No such file or directory\n"


def test_the_rows_of_a_padded_map_have_as_many_columns_as_they_may_look_at(
    sharp: Transformer, tokenizer: Tokenizer
) -> None:
    """Padding is no choice: the entropy of a uniform row is that of the columns that the mask allows."""
    source, target = tokenizer.encode(PAIRS[0].source), tokenizer.encode(PAIRS[0].target)
    padded = trace_of(sharp, tokenizer, source, target, padding=3)
    for kind in KINDS:
        rows, columns, _ = padded.labels(kind)
        allowed = np.broadcast_to(padded.attention(kind, 1, "may_look")[0], (len(rows), len(columns)))
        even = allowed / allowed.sum(axis=1, keepdims=True)
        counts = Counts()
        counts.add(with_weights(padded, kind, even), kind, np.arange(len(rows)))
        assert counts.rows(kind)[3]["entropy_of_uniform"] == pytest.approx(1, abs=1e-4)
