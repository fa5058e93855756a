"""A report is read back as it was written, of other weights it is refused, and as tables it says nothing else."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model import heads, report, sums
from model.card import findings_table, heads_table, layers_table
from model.report import Report, ReportError, load

PAIRS = "The old man sees Tom.\tDer alte Mann sieht Tom.\nMary draws!\tMaria zeichnet zwei Bäume!\n"
GOLD = "Tom sees Mary .\tTom sieht Maria .\t0-0 1-1 2-2 3-3\nMary draws .\tMaria zeichnet .\t0-0 1-1 2-2\n"
TREE = "1\tTom\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsees\t_\t_\t_\t_\t0\troot\t_\t_\n3\tMary\t_\t_\t_\t_\t2\tobj\t_\t_\n"


HABITS = dict.fromkeys(
    ("entropy_of_uniform", "distance", "previous", "same", "next", "confidence", "special", "marks"), 0.5
)


@pytest.fixture(scope="module")
def reported(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A weights folder with its report in it."""
    folder = Path(shutil.copytree(weights, tmp_path_factory.mktemp("reported") / "tiny"))
    for name, content in {"pairs.tsv": PAIRS, "gold.tsv": GOLD, "trees.conllu": "\n".join([TREE] * 220)}.items():
        (folder.parent / name).write_text(content, encoding="utf-8")
    files = {name: str(folder.parent / name) for name in ("pairs.tsv", "gold.tsv", "trees.conllu")}
    options = ["--syntax", files["trees.conllu"], "--align", files["gold.tsv"], "--silence", "2"]
    out = ["--weights", str(folder), "--out", str(folder / report.NAME)]
    assert heads.main([files["pairs.tsv"], *options, *out]) == 0
    return folder


@pytest.fixture
def damaged(reported: Path, tmp_path: Path) -> Path:
    """A copy to do things to, without sums: each damage is to be seen for what it is."""
    return Path(shutil.copytree(reported, tmp_path / "damaged", ignore=shutil.ignore_patterns(sums.NAME)))


def test_every_head_and_layer_is_found_under_its_numbers(reported: Path) -> None:
    found = load(reported)
    assert len(found.heads) == 35
    assert len(found.layers) == 7
    for row in found.heads:
        assert found.head(row["kind"], row["layer"], row["head"]) is row
    for row in found.layers:
        assert found.layer(row["kind"], row["layer"]) is row
    assert len(found.findings) == 10


@pytest.mark.parametrize(
    "place", [("encoder", 4, 1), ("masked", 3, 1), ("cross", 1, 6), ("cross", 0, 1), ("other", 1, 1)]
)
def test_a_head_or_layer_that_is_not_there_is_said(reported: Path, place: tuple[str, int, int]) -> None:
    found = load(reported)
    with pytest.raises(ReportError, match=f"no {place[0]} layer {place[1]}, head {place[2]}"):
        found.head(*place)
    if place[2] == 1:
        with pytest.raises(ReportError, match=f"no {place[0]} layer {place[1]}"):
            found.layer(*place[:2])


def test_a_report_of_other_weights_is_refused(damaged: Path) -> None:
    with (damaged / report.TENSORS).open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(ReportError) as raised:
        load(damaged)
    assert "made from other weights" in str(raised.value)
    assert f"python -m model.heads … --weights {damaged} --out {damaged / 'heads.json'}" in str(raised.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "there is no report"),
        ("{", "is damaged"),
        ("\udcff", "is damaged"),
        ("[]", "is no report of format 1"),
        ('{"format": 2}', "is no report of format 1"),
        ('{"format": 1, "weights": {}}', "has no n"),
    ],
)
def test_a_report_that_cannot_be_read_is_said_with_what_to_do(
    damaged: Path, content: str | None, complaint: str
) -> None:
    path = damaged / report.NAME
    path.unlink()
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReportError) as raised:
        load(damaged)
    assert complaint in str(raised.value)
    assert str(path) in str(raised.value)
    assert "make it with `python -m model.heads" in str(raised.value)


def test_without_a_digest_it_is_damaged(damaged: Path) -> None:
    path = damaged / report.NAME
    content = json.loads(path.read_text())
    for whose in ({}, None, {"digest": None}):
        path.write_text(json.dumps(content | {"weights": whose}))
        with pytest.raises(ReportError, match="made from other weights"):
            load(damaged)


def cells(table: str) -> list[list[str]]:
    """The rows of the Markdown tables in a text, titles included."""
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


def test_the_table_of_heads_has_a_line_for_each_with_its_numbers(reported: Path) -> None:
    found = load(reported)
    title, ruler, *lines = cells(heads_table(found))
    assert len(ruler) == len(title)
    assert [line[0] for line in lines] == [f"{r['kind']} {r['layer']}.{r['head']}" for r in found.heads]
    assert {len(line) for line in lines} == {len(title)}
    for line, row in zip(lines, found.heads, strict=True):
        confidence = [f"{row[column]['confidence']:.2f}" for column in ("own", "shuffled", "untrained")]
        assert line[title.index("confidence")] == f"{confidence[0]} ({confidence[1]}, {confidence[2]})"
        lost = row["silenced"]["mean"]
        star = "*" if lost["low"] > 0 or lost["high"] < 0 else ""
        assert line[title.index("by mean")] == f"{1000 * lost['delta']:+.1f}{star}"
        assert (line[title.index("+1")] == "–") == (row["kind"] != "encoder")
        role = line[title.index("relation, or AER")]
        assert {"encoder": role.endswith(")"), "masked": role == "–", "cross": "rows" in role}[row["kind"]]


@pytest.mark.parametrize(
    ("relation", "shown"),
    [
        ({"relation": "obj", "accuracy": 0.62, "offset_accuracy": 0.4}, "obj 62%, offset 40%"),
        ({"relation": "obj", "accuracy": 0.4, "offset_accuracy": 0.4}, "none"),
        (None, "none"),
    ],
)
def test_a_relation_is_in_the_table_if_the_head_is_above_the_offset(
    relation: dict[str, Any] | None, shown: str
) -> None:
    columns: dict[str, Any] = {column: HABITS | {"relation": relation} for column in ("own", "shuffled", "untrained")}
    row = {"kind": "encoder", "layer": 1, "head": 2, "silenced": None} | columns
    assert cells(heads_table(Report({"heads": [row], "corpus": {}})))[2][9] == f"{shown} ({shown}; {shown})"


def test_the_aer_in_the_table_is_of_the_last_half_by_the_reading_that_is_best_on_the_first() -> None:
    ways = {"weight, rows read": 50.0, "norm, rows read": 40.0}
    aer = {"first": ways, "last": {"weight, rows read": 10.0, "norm, rows read": 45.0}}
    columns = {column: HABITS | {"aer": aer} for column in ("own", "shuffled", "untrained")}
    row: dict[str, Any] = {"kind": "cross", "layer": 1, "head": 2, "silenced": None} | columns
    table = heads_table(Report({"heads": [row], "corpus": {}}))
    assert cells(table)[2][9:] == ["45.0 % by norm, rows read (45.0, 45.0)", "–", "–"]


def test_the_table_of_layers_has_their_losses_with_intervals(reported: Path) -> None:
    found = load(reported)
    _, _, *lines = cells(layers_table(found))
    assert [line[0] for line in lines] == [f"{row['kind']} {row['layer']}" for row in found.layers]
    for line, row in zip(lines, found.layers, strict=True):
        lost = row["silenced"]["zero"]
        assert line[1] == f"{lost['delta']:+.3f} ({lost['low']:+.3f} to {lost['high']:+.3f})"
        assert ("rows" in line[3]) == (row["kind"] == "cross")


def test_findings_of_two_models_stand_side_by_side(reported: Path) -> None:
    first = load(reported)
    fewer = Report(first.content | {"findings": [{**first.findings[0], "holds": True, "said": "seen."}]})
    title, _, *lines = cells(findings_table([first, fewer], ["en-de", "second"]))
    assert title == ["finding", "holds if", "en-de", "second"]
    assert [line[0] for line in lines] == [f"{f['claim']} ({f['source']})" for f in first.findings]
    assert lines[0][3] == "**holds**: seen."
    assert [line[3] for line in lines[1:]] == ["–"] * 9
    for line, finding in zip(lines, first.findings, strict=True):
        assert line[2] == f"**{'holds' if finding['holds'] else 'does not hold'}**: {finding['said']}"


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def call(*arguments: str | Path) -> str:
        assert report.main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    return call


def test_the_command_prints_findings_and_tables(reported: Path, printed: Callable[..., str]) -> None:
    found = load(reported)
    lines = printed("--weights", reported).splitlines()
    assert [line[:14].strip() for line in lines] == [
        "holds" if finding["holds"] else "does not hold" for finding in found.findings
    ]
    tables = printed("--weights", reported, "--markdown", "--beside", reported)
    assert heads_table(found) in tables
    assert layers_table(found) in tables
    assert findings_table([found, found], ["tiny", "tiny"]) in tables


def test_without_a_report_the_command_says_so_in_one_line(weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main(["--weights", str(weights)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith(f"error: there is no report {weights / 'heads.json'}")
