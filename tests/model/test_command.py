"""Every command: help, one clear line for a mistake, status 2, and no folder made that was not there."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from model import align, capture, command, evaluate, heads, score, train, translate
from model.checkpoint import CheckpointError
from model.command import InputError, at_least

ROOT = Path(__file__).resolve().parents[2]
Main = Callable[[Sequence[str] | None], int]
ONE_FILE: dict[str, Main] = {"evaluate": evaluate.main, "score": score.main}


def one_error(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr; stdout must be empty."""
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("error: ")
    return said.err


def test_help_runs_from_the_shell_and_names_the_weights() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "model.translate", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "usage: python -m model.translate" in ran.stdout
    assert "--weights" in ran.stdout
    assert ran.stderr == ""


@pytest.mark.parametrize("main", [m.main for m in (align, capture, evaluate, heads, score, train, translate)])
def test_every_command_has_help(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: python -m model.")
    assert ("--weights" in said) == (main is not train.main)


@pytest.mark.parametrize("name", ONE_FILE)
def test_a_line_without_a_tab_is_said_with_its_number(
    name: str, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("The cat.\tDie Katze.\nno tab here\n", encoding="utf-8")
    assert ONE_FILE[name]([str(path), "--weights", str(weights), "--json"]) == 2
    assert f"{path}, line 2: no tab" in one_error(capsys)


@pytest.mark.parametrize("name", ONE_FILE)
def test_a_missing_file_or_a_folder_in_its_place_is_said_by_name(
    name: str, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path / "none.tsv", tmp_path / "none.tsv.xz", tmp_path):
        assert ONE_FILE[name]([str(path), "--weights", str(weights)]) == 2
        assert str(path) in one_error(capsys)


@pytest.mark.parametrize("name", [*ONE_FILE, "translate", "capture"])
def test_missing_weights_are_said_in_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("The cat.\tDie Katze.\n", encoding="utf-8")
    main = {**ONE_FILE, "translate": translate.main, "capture": capture.main}[name]
    given = ["The cat.", "--out", str(tmp_path / "out.npz")] if name == "capture" else [str(path)]
    assert main([*given, "--weights", str(tmp_path / "none")]) == 2
    assert f"there is no weights folder {tmp_path / 'none'}" in one_error(capsys)
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.tsv"]


@pytest.mark.parametrize("text", ["", "  ", "\t\n", "\x00"])
def test_an_empty_text_is_said_in_one_line(
    text: str, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for main, given in (
        (translate.main, [text]),
        (capture.main, [text, "--out", str(tmp_path / "out.npz")]),
        (capture.main, ["The cat.", "--target", text, "--out", str(tmp_path / "out.npz")]),
    ):
        assert main([*given, "--weights", str(weights)]) == 2
        assert "is empty; type at least one word" in one_error(capsys)
    assert not list(tmp_path.iterdir())


def test_broken_weights_are_said_in_one_line(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in weights.iterdir():
        (broken / path.name).write_bytes(path.read_bytes()[:99])
    assert translate.main(["The cat.", "--weights", str(broken)]) == 2
    assert str(broken) in one_error(capsys)


def run_with(error: BaseException | None) -> int:
    def body(options: argparse.Namespace) -> None:
        if error is not None:
            raise error

    return command.run(body, command.parser("nothing", "Does nothing."), [])


def test_a_mistake_of_several_lines_becomes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_with(CheckpointError("first\n  second\tthird")) == 2
    assert one_error(capsys) == "error: first second third\n"
    assert run_with(InputError("say something")) == 2
    assert one_error(capsys) == "error: say something\n"
    assert run_with(None) == 0


def test_a_mistake_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run_with(ZeroDivisionError())


def test_a_reader_that_has_left_is_no_error(weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("The cat.\tDie Katze.\n", encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    given = [sys.executable, "-m", "model.score", str(path), "--weights", str(weights)]
    ran = subprocess.run(given, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("text", ["2", "-5", "x", "3.5", ""])
def test_a_number_below_the_least_is_refused_as_it_was_typed(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}' is not a whole number of 3 or more"):
        at_least(3)(text)
    assert at_least(3)("3") == 3


@pytest.mark.parametrize("beam", ["0", "abc", "100000"])
def test_an_option_out_of_range_is_said_in_one_line(beam: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        translate.main(["The cat.", "--beam", beam])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{beam!r} is not a whole number from 1 to 64" in said
