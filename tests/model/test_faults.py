"""What can go wrong with a disk or a process ends in one clear sentence or a clean resume; nothing is half-written."""

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from model import align, capture, checkpoint, length_report, report, runs, snapshots, sums, train
from model.checkpoint import CheckpointError
from model.config import ModelConfig
from model.data import Pair
from model.report import ReportError
from model.sums import SumsError
from model.tokenizer import Tokenizer
from tests.conftest import random_model
from tests.model.kills import differences

ROOT = Path(__file__).resolve().parents[2]
ROOM = 20_000  # bytes that a file may have on a disk that is as good as full; the tiny weights take three times that
SIZES = "--vocab-size 347 --d-model 20 --n-heads 5 --d-ff 37 --encoder-layers 3 --decoder-layers 2".split()
SHORT = "--positions 150 --warmup 3 --peak 0.01 --threads 1 --save-every 2".split()


@pytest.fixture
def folder(weights: Path, tmp_path: Path) -> Path:
    """A weights folder to damage, with everything that may lie in one."""
    copy = Path(shutil.copytree(weights, tmp_path / "damaged"))
    for name in (report.NAME, length_report.REPORT, align.SELECTED):
        (copy / name).write_text('{"format": 1, "weights": "abc"}\n')
    sums.write(copy)
    return copy


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow beyond ROOM, and whoever tries gets an error of the system."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << at % 8
    path.write_bytes(bytes(content))


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as error:
        checkpoint.load(folder)
    said = str(error.value)
    assert str(folder) in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize("summed", [True, False])
def test_tensors_cut_short_anywhere_are_refused(folder: Path, summed: bool) -> None:
    """At fifty places, in the header and in the numbers; with sums, and without."""
    if not summed:
        (folder / sums.NAME).unlink()
    whole = (folder / checkpoint.TENSORS).read_bytes()
    places = sorted({*range(12), *(len(whole) * part // 36 for part in range(36)), len(whole) - 2, len(whole) - 1})
    for place in places:
        (folder / checkpoint.TENSORS).write_bytes(whole[:place])
        assert "damaged" in refusal(folder)
    assert len(places) >= 48


@pytest.mark.parametrize("name", checkpoint.FILES)
def test_one_wrong_byte_in_a_file_of_the_model_is_found(folder: Path, name: str) -> None:
    """Also one that only makes other numbers, of the same shape."""
    path = folder / name
    size = path.stat().st_size
    for at in range(0, size, max(1, size // 60)):
        flip(path, at)
        assert name in refusal(folder)
        flip(path, at)
    checkpoint.load(folder)


def test_one_wrong_byte_among_the_sums_is_found(folder: Path) -> None:
    for at in range((folder / sums.NAME).stat().st_size):
        flip(folder / sums.NAME, at)
        with pytest.raises(SumsError):
            sums.check(folder)
        flip(folder / sums.NAME, at)
    sums.check(folder)


def test_one_wrong_byte_beside_the_model_is_found(folder: Path) -> None:
    model, _ = checkpoint.load(folder)
    for name in (report.NAME, length_report.REPORT, align.SELECTED):
        flip(folder / name, 12)
    for load in (report.load, length_report.load):
        with pytest.raises(ReportError, match="is damaged: it is not what SHA256SUMS says it was"):
            load(folder)
    with pytest.raises(CheckpointError, match=r"alignment\.json is damaged: it is not what SHA256SUMS says"):
        align.named(model, folder)


def test_one_wrong_byte_in_the_history_is_found(tmp_path: Path) -> None:
    table = tmp_path / snapshots.TABLE
    table.write_text(",".join(snapshots.COLUMNS) + "\n5,100,1,0.1,2.5,,\n")
    sums.write(tmp_path)
    assert snapshots.read_table(table)[0]["loss"] == 2.5
    table.write_text(table.read_text().replace("2.5", "2.4"))
    with pytest.raises(CheckpointError, match=r"history\.csv is damaged"):
        snapshots.read_table(table)


@pytest.mark.parametrize(
    "folder", sorted(p.parent.relative_to(ROOT) for p in ROOT.glob("weights/**/config.json")), ids=str
)
def test_what_is_shipped_is_what_was_written(folder: Path) -> None:
    """If this fails after a change of yours: `python -m model.sums FOLDER --write`."""
    listed = (ROOT / folder / sums.NAME).read_text()
    assert all(name in listed for name in checkpoint.FILES)
    sums.check(ROOT / folder)


def test_sums_are_those_of_the_system_and_leave_out_the_card(folder: Path) -> None:
    (folder / "README.md").write_text("a card")
    sums.write(folder)
    lines = (folder / sums.NAME).read_text().splitlines()
    assert [line[66:] for line in lines] == sorted([*checkpoint.FILES, "alignment.json", "heads.json", "length.json"])
    assert lines[0][:64] == sums.digest(folder / "alignment.json")
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--quiet", sums.NAME], cwd=folder, check=True)


def test_a_file_that_a_command_writes_anew_is_taken_as_it_is(folder: Path) -> None:
    (folder / report.NAME).write_text("{}")
    with pytest.raises(SumsError):
        sums.check(folder)
    sums.record(folder / report.NAME)
    sums.check(folder)
    (folder / report.NAME).unlink()
    with pytest.raises(SumsError, match=r"has no heads\.json, which its SHA256SUMS lists"):
        sums.check(folder)


def test_the_command_says_what_is_damaged_and_takes_files_as_they_are(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sums.main([str(folder)]) == 0
    flip(folder / "config.json", 5)
    assert sums.main([str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "config.json is damaged" in line
    assert sums.main([str(folder), "--write"]) == 0
    assert sums.main([str(folder)]) == 0
    assert sums.main([str(folder / "none")]) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encoder_layers": 10**9}, "asks for 1000000002 layers, but model.safetensors has"),
        ({"d_ff": 10**9}, r"has shape \(37, 20\), config.json asks for \(1000000000, 20\)"),
        ({"encoder_layers": 2}, "has a tensor encoder.layers.3"),
        ({"n_heads": 4, "positions": "learned"}, "has no tensor"),
    ],
)
def test_a_configuration_of_another_model_is_refused_at_once(
    folder: Path, change: dict[str, object], said: str
) -> None:
    """Also one that no memory could hold."""
    config = folder / checkpoint.CONFIG
    config.write_text(json.dumps(json.loads(config.read_text()) | change))
    sums.write(folder)
    with pytest.raises(CheckpointError, match=said):
        checkpoint.load(folder)


def test_a_folder_that_may_not_be_read_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    assert refusal(folder).endswith("cannot be read: Permission denied")


def test_a_full_disk_ends_an_export_in_one_line_and_leaves_nothing(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with full_disk():
        assert checkpoint.main([str(weights), "--out", str(tmp_path / "out")]) == 2
        assert capture.main(["The cat sees.", "--weights", str(weights), "--out", str(tmp_path / "trace.npz")]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"error: [Errno 27] File too large: '{tmp_path / 'out'}'"
    assert second == f"error: {tmp_path / 'trace.npz'}: File too large"
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_an_old_export_as_it_was(
    weights: Path, tokenizer: Tokenizer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, other = Path(shutil.copytree(weights, tmp_path / "old")), tmp_path / "other"
    bigger = random_model(replace(checkpoint.load(weights)[0].config, d_ff=71))
    checkpoint.save(other, bigger.config, bigger.state_dict(), tokenizer)
    with full_disk():
        assert checkpoint.main([str(other), "--out", str(old)]) == 2
    assert capsys.readouterr().err == f"error: [Errno 27] File too large: '{old}'\n"
    assert {path.name: path.read_bytes() for path in old.iterdir()} == {
        path.name: path.read_bytes() for path in weights.iterdir()
    }
    assert {path.name for path in tmp_path.iterdir()} == {"old", "other"}
    checkpoint.main([str(other), "--out", str(old)])
    assert checkpoint.load(old)[0].config == bigger.config


def test_a_read_only_disk_is_said_in_one_line(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_only(path: Path, *_: object) -> NoReturn:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "mkdir", read_only)
    assert checkpoint.main([str(weights), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == f"error: [Errno 30] Read-only file system: '{tmp_path / 'out'}'\n"


@pytest.fixture
def pairs_file(tmp_path: Path, pairs: list[Pair]) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs[:60]), encoding="utf-8")
    return path


def given(file: Path, run: Path, steps: int) -> list[str]:
    return ["--run", str(run), "--train", str(file), *SIZES, *SHORT, "--steps", str(steps)]


def test_a_training_whose_disk_was_full_goes_on_to_the_same_weights(
    pairs_file: Path, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    assert train.main(given(pairs_file, disturbed, 2)) == 0
    with full_disk():
        assert train.main(given(pairs_file, disturbed, 5)) == 2
    assert capsys.readouterr().err == f"error: {disturbed / 'step-00000004'}: File too large\n"
    assert {path.name for path in disturbed.iterdir()} == {"pid", "snapshot-00000000", "step-00000002"}
    assert train.main(given(pairs_file, disturbed, 5)) == 0
    assert train.main(given(pairs_file, undisturbed, 5)) == 0
    assert differences(disturbed / "step-00000005", undisturbed / "step-00000005") == []


@pytest.mark.parametrize("name", [checkpoint.TENSORS, runs.OPTIMIZER, runs.STATE])
def test_a_damaged_step_is_said_and_the_run_goes_on_from_the_one_before(
    pairs_file: Path, tiny: ModelConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run = tmp_path / "run"
    assert train.main(given(pairs_file, run, 4)) == 0
    flip(run / "step-00000004" / name, -2)
    assert train.main(given(pairs_file, run, 5)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"the saved step {run / 'step-00000004'} is damaged" in line
    assert line.endswith("remove it, and the run goes on from step-00000002")
    shutil.rmtree(run / "step-00000004")
    assert train.main(given(pairs_file, run, 4)) == 0


def test_a_training_that_is_killed_at_random_moments_ends_as_an_undisturbed_one_does() -> None:
    """Four kills here, thirty by hand: `python -m tests.model.kills`."""
    command = [sys.executable, "-m", "tests.model.kills", "--kills", "4"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == 4
