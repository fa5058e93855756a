"""Many sentences at once: each line has its file or its mistake, and a killed run goes on where it stopped."""

import json
from pathlib import Path

import numpy as np
import pytest

from model import archive, capture
from model.archive import Sentence
from model.command import InputError

LINES = b"The cat.\n\nThe old dog barks.\tDer Hund.\na\tb\tc\n\xff\xfe\nTwo green trees"


def write_lines(path: Path, content: bytes = LINES) -> Path:
    path.write_bytes(content)
    return path


class Writer:
    """Stands for the model: notes what it was asked to write, and may stop the run."""

    def __init__(self, stop_at: int = 0) -> None:
        self.lines: list[int] = []
        self.stop_at = stop_at

    def __call__(self, sentence: Sentence, file: Path) -> str:
        if sentence.line == self.stop_at:
            raise KeyboardInterrupt
        self.lines.append(sentence.line)
        file.write_text(sentence.text, encoding="utf-8")
        return sentence.text.upper()


def filled(path: Path, folder: Path, writer: Writer, weights: str = "w1") -> dict[int, str]:
    """The mistakes that were reported, by line."""
    mistakes: dict[int, str] = {}
    folder.mkdir(exist_ok=True)
    seen = [s.line for s in archive.fill(path, folder, weights, writer, mistakes.__setitem__)]
    assert seen == list(range(1, archive.count(path) + 1))
    return mistakes


def test_a_broken_line_is_reported_with_its_number_and_the_rest_is_written(tmp_path: Path) -> None:
    writer = Writer()
    mistakes = filled(write_lines(tmp_path / "in.txt"), tmp_path / "out", writer)
    assert writer.lines == [1, 3, 6]
    assert mistakes == {2: "empty", 4: "2 tabs; a line is a sentence, or sentence<TAB>target", 5: mistakes[5]}
    assert mistakes[5].startswith("not UTF-8 text")
    entries = archive.read_index(tmp_path / "out")
    assert [(e.line, e.file, e.sentence, e.forced, e.translation) for e in entries.values()] == [
        (1, "000001.npz", "The cat.", "", "THE CAT."),
        (3, "000003.npz", "The old dog barks.", "Der Hund.", "THE OLD DOG BARKS."),
        (6, "000006.npz", "Two green trees", "", "TWO GREEN TREES"),
    ]


def test_what_unicode_takes_for_a_line_end_ends_no_line_of_the_index(tmp_path: Path) -> None:
    ends = "\u2028 \u2029 \x85 \x0b \x0c \x1c \x1d \x1e".split(" ")
    path = write_lines(tmp_path / "in.txt", "".join(f"I{end}like tea.\n" for end in ends).encode())
    first, again = Writer(), Writer()
    filled(path, tmp_path / "out", first)
    filled(path, tmp_path / "out", again)
    assert first.lines == list(range(1, len(ends) + 1))
    assert again.lines == []


@pytest.mark.parametrize("stop_at", [1, 3, 6])
def test_a_stopped_run_goes_on_and_ends_as_if_undisturbed(tmp_path: Path, stop_at: int) -> None:
    path, whole, stopped = write_lines(tmp_path / "in.txt"), tmp_path / "whole", tmp_path / "stopped"
    filled(path, whole, Writer())
    first, second = Writer(stop_at), Writer()
    with pytest.raises(KeyboardInterrupt):
        filled(path, stopped, first)
    filled(path, stopped, second)
    assert first.lines + second.lines == [1, 3, 6]
    assert sorted(p.name for p in stopped.iterdir()) == sorted(p.name for p in whole.iterdir())
    assert (stopped / archive.INDEX).read_bytes() == (whole / archive.INDEX).read_bytes()


def test_only_what_changed_is_written_again(tmp_path: Path) -> None:
    path, folder = write_lines(tmp_path / "in.txt"), tmp_path / "out"
    filled(path, folder, Writer())
    again = Writer()
    filled(path, folder, again)
    assert again.lines == []
    write_lines(path, LINES.replace(b"Der Hund.", b"Der alte Hund."))
    filled(path, folder, again)
    assert again.lines == [3]
    (folder / "000006.npz").unlink()
    filled(path, folder, again)
    assert again.lines == [3, 6]
    filled(path, folder, other := Writer(), weights="w2")
    assert other.lines == [1, 3, 6]


def test_lines_that_are_gone_or_broken_now_leave_the_index(tmp_path: Path) -> None:
    path, folder = write_lines(tmp_path / "in.txt"), tmp_path / "out"
    filled(path, folder, Writer())
    write_lines(path, b"\t\nx\nThe old dog barks.\tDer Hund.\n")
    assert list(filled(path, folder, Writer())) == [1]
    assert list(archive.read_index(folder)) == [2, 3]
    assert not (folder / "000001.npz").exists()


def test_a_torn_last_line_of_the_index_does_not_count_and_another_file_is_refused(tmp_path: Path) -> None:
    path, folder = write_lines(tmp_path / "in.txt"), tmp_path / "out"
    filled(path, folder, Writer())
    index = folder / archive.INDEX
    whole = index.read_bytes()
    index.write_bytes(whole[:-20])
    again = Writer()
    filled(path, folder, again)
    assert (again.lines, index.read_bytes()) == ([6], whole)
    index.write_text("my shopping list\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not an entry of an index; take another folder"):
        filled(path, folder, Writer())


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    long = b"x" * (3 * archive.LONGEST_LINE + 5)
    found = list(archive.sentences(write_lines(tmp_path / "in.txt", b"one\n" + long + b"\ntwo\n")))
    assert [(s.line, s.text, s.mistake[:11]) for s in found] == [(1, "one", ""), (2, "", "longer than"), (3, "two", "")]


def test_the_command_writes_what_one_capture_writes_and_says_what_is_broken(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = write_lines(tmp_path / "in.txt"), tmp_path / "out"
    assert capture.main(["--file", str(path), "--out", str(folder), "--weights", str(weights)]) == 0
    said = capsys.readouterr()
    assert f"{path}, line 2: empty" in said.err
    assert "3 of 6 lines" in said.out
    one = tmp_path / "one.npz"
    sentence = ["The old dog barks.", "--target", "Der Hund."]
    assert capture.main([*sentence, "--out", str(one), "--weights", str(weights)]) == 0
    with np.load(one) as alone, np.load(folder / "000003.npz") as many:
        assert sorted(alone) == sorted(many)
        assert all(np.array_equal(alone[name], many[name]) for name in alone)
    entry = json.loads((folder / archive.INDEX).read_text(encoding="utf-8").splitlines()[1])
    assert (entry["line"], entry["translation"]) == (3, "Der Hund.")


@pytest.mark.parametrize("options", [[], ["x", "--file", "y"], ["--file", "y", "--target", "z"]])
def test_one_sentence_or_one_file(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert capture.main([*options, "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "out").exists()
