"""The command writes and prints one report on all heads, and says in one line what it cannot work with."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model import report
from model.heads import TABLE, main, rounded

PAIRS = (
    "The old man, doesn't he hear two green trees?\tDer alte Mann, oder?\n"
    "Tom sees!\tTom sieht heute im Garten 25 (oder zwei) grüne Bäume.\n"
    "q\tx\n"
)
TREES = "\n".join(
    [
        "1\tTom\t_\t_\t_\t_\t2\tnsubj\t_\t_",
        "2\tsees\t_\t_\t_\t_\t0\troot\t_\t_",
        "3\tMary\t_\t_\t_\t_\t2\tobj\t_\tSpaceAfter=No",
        "4\t.\t_\t_\t_\t_\t2\tpunct\t_\t_",
    ]
)
GOLD = "Tom sees Mary .\tTom sieht Maria .\t0-0 1-1 2-2 3-3\nMary draws .\tMaria zeichnet .\t0-0 1-1 2-2\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {"pairs.tsv": PAIRS, "trees.conllu": "\n\n".join([TREES] * 210), "gold.tsv": GOLD}
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return {name.split(".")[0]: tmp_path / name for name in contents}


@pytest.fixture
def printed(weights: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    def call(*arguments: str | Path) -> dict[str, Any]:
        assert main([*map(str, arguments), "--weights", str(weights), "--json"]) == 0
        found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        assert isinstance(found, dict)
        return found

    return call


def test_the_command_prints_what_a_report_holds(
    files: dict[str, Path], weights: Path, printed: Callable[..., dict[str, Any]]
) -> None:
    found = printed(files["pairs"])
    assert set(report.NEEDED) <= set(found)
    assert found["n"] == 3
    assert found["weights"]["digest"] == report.digest(weights)
    assert found["weights"]["layers"] == {"encoder": 3, "masked": 2, "cross": 2}
    assert [row["kind"] for row in found["heads"]] == ["encoder"] * 15 + ["masked"] * 10 + ["cross"] * 10
    assert [row["kind"] for row in found["layers"]] == ["encoder"] * 3 + ["masked"] * 2 + ["cross"] * 2
    assert [finding["name"] for finding in found["findings"]] == ["positional"]
    assert printed(files["pairs"], "--limit", "2")["n"] == 2


def test_lines_that_cannot_be_used_are_read_but_not_counted(
    files: dict[str, Path], printed: Callable[..., dict[str, Any]]
) -> None:
    files["pairs"].write_text(f"{'q' * 300}\tx\n{PAIRS}", encoding="utf-8")
    longer = "1\t" + "q" * 300 + "\t_\t_\t_\t_\t0\troot\t_\t_"
    files["trees"].write_text("\n\n".join([longer, TREES]), encoding="utf-8")
    files["gold"].write_text(f"{GOLD}{'q' * 300}\tx\t0-0\n", encoding="utf-8")
    found = printed(files["pairs"], "--syntax", files["trees"], "--align", files["gold"], "--silence", "2")
    assert found["n"] == 3
    assert found["corpus"] == {
        "pairs": {"file": "pairs.tsv", "read": 4, "used": 3},
        "trees": {"file": "trees.conllu", "read": 2, "used": 1},
        "gold": {"file": "gold.tsv", "read": 3, "used": 2},
        "silence": {"file": "pairs.tsv", "read": 2, "used": 1},
    }


def test_with_everything_given_every_finding_is_judged(
    files: dict[str, Path], printed: Callable[..., dict[str, Any]]
) -> None:
    found = printed(files["pairs"], "--syntax", files["trees"], "--align", files["gold"], "--silence", "3")
    assert len(found["findings"]) == 10
    for row in found["heads"]:
        if row["kind"] == "encoder":
            assert row["own"]["relation"]["offset_accuracy"] == 1.0  # all trees are alike
            assert row["own"]["relation"]["n"] == 105  # every other one


def test_the_file_holds_what_is_printed_and_is_small(
    files: dict[str, Path], tmp_path: Path, printed: Callable[..., dict[str, Any]]
) -> None:
    out = tmp_path / "heads.json"
    found = printed(files["pairs"], "--silence", "1", "--out", out)
    assert json.loads(out.read_text(encoding="utf-8")) == found
    assert out.stat().st_size < 2000 * 42  # a row of the shipped model is no longer
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.tsv", "heads.json", "pairs.tsv", "trees.conllu"]


def test_numbers_have_four_digits_wherever_they_stand() -> None:
    given = {"a": [0.123456, {"b": -12345.678}], "c": None, "d": True, "e": 123456, "f": "0.123456"}
    assert rounded(given) == {"a": [0.1235, {"b": -12350.0}], "c": None, "d": True, "e": 123456, "f": "0.123456"}


def test_for_a_person_it_is_a_table_with_a_line_for_each_head_and_each_finding(
    files: dict[str, Path], weights: Path, capsys: pytest.CaptureFixture[str], printed: Callable[..., dict[str, Any]]
) -> None:
    found = printed(files["pairs"])
    assert main([str(files["pairs"]), "--weights", str(weights)]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 35 + 1
    assert {len(line) for line in lines[:35]} == {len(title)}
    for line, row in zip(lines, found["heads"], strict=False):
        kind, layer, head, *numbers = line.split()
        assert [kind, int(layer), int(head)] == [row["kind"], row["layer"], row["head"]]
        for shown, name in zip(numbers, TABLE, strict=True):
            assert shown == ("–" if row["own"][name] is None else f"{row['own'][name]:.2f}")
    assert lines[35].endswith(found["findings"][0]["said"])


@pytest.mark.parametrize(
    ("broken", "content", "complaint"),
    [
        ("pairs", "no tab\n", "line 1: no tab"),
        ("pairs", f"{'q' * 300}\tx\n", "every sentence pair is beyond 256 pieces"),
        ("trees", "no tree\n", "sentence 1: a line without ten columns"),
        ("gold", "no tab\n", "line 1: 0 tabs"),
        ("gold", "Tom\tTom\t0-0\n", "has one alignment; two are needed"),
        ("gold", f"{'q' * 300}\tx\t0-0\nTom\tTom\t0-0\n", "beyond 256 pieces"),
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


def test_a_file_or_folder_that_is_missing_is_said_by_name(
    files: dict[str, Path], weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--syntax", "--align"):
        assert main([str(files["pairs"]), "--weights", str(weights), option, "none.txt"]) == 2
        assert capsys.readouterr().err == "error: none.txt: No such file or directory\n"
    out = tmp_path / "none" / "heads.json"
    assert main([str(files["pairs"]), "--weights", str(weights), "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"error: the folder {out.parent} does not exist; create it first\n"
