"""Weights that are missing or broken become one clear sentence, on every page, and nothing else goes wrong."""

import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from model import checkpoint, sums
from model.config import ModelConfig
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from pages.parts import session, shipped
from tests.pages.visitor import PAGES, PATIENCE, ROOT, SENTENCE, Visitor


def cut_short(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def not_tensors(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"<html>404</html>")


def without_tensors(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def not_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def another_size(folder: Path) -> None:
    file = folder / "config.json"
    file.write_text(file.read_text().replace('"d_model": 20', '"d_model": 40'))


def not_a_vocabulary(folder: Path) -> None:
    (folder / "sentencepiece.model").write_bytes(b"\x00\x01\x02")


def gone(folder: Path) -> None:
    shutil.rmtree(folder)


def one_wrong_byte(folder: Path) -> None:
    """It makes other numbers, no broken file: only the sums tell."""
    file = folder / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)


def not_a_number(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    state["embedding.weight"][7, 3] = float("nan")
    save_file(state, folder / "model.safetensors")
    sums.write(folder)


BREAKAGES = [gone, without_tensors, cut_short, not_tensors, not_json, another_size, not_a_vocabulary]
BREAKAGES += [one_wrong_byte, not_a_number]


@pytest.fixture(params=BREAKAGES, ids=lambda breakage: breakage.__name__)
def broken(request: pytest.FixtureRequest, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "broken"
    shutil.copytree(weights, folder)
    request.param(folder)
    monkeypatch.setattr(session, "WEIGHTS", folder)
    return folder


def test_every_page_says_so_in_one_sentence(broken: Path) -> None:
    visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    for page in PAGES:
        visitor.follow(page)
        assert not visitor.app.exception
        (said,) = visitor.errors
        assert said.startswith("The weights cannot be used: ")
        assert said.endswith(".")
        assert str(broken) in said
        assert "\n" not in said
        assert not visitor.app.get("bidi_component")
        assert visitor.address == {"sentence": SENTENCE}


def test_what_lies_beside_the_weights_and_is_damaged_breaks_no_page(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(weights, tmp_path / "damaged"))
    for name in ("heads.json", "length.json", "alignment.json"):
        (folder / name).write_text('{"format": 1}\n')
    sums.write(folder)
    for name in ("heads.json", "length.json", "alignment.json"):
        (folder / name).write_text('{"format": 2}\n')
    monkeypatch.setattr(session, "WEIGHTS", folder)
    visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    said = set()
    for page in PAGES:
        visitor.follow(page)
        assert not visitor.app.exception
        assert not visitor.errors
        assert visitor.translation
        shown = [*(text.value for text in visitor.app.text), *visitor.captions, *visitor.notes]
        said |= {
            name for name in ("heads.json", "length.json", "alignment.json") if f"{name} is damaged" in " ".join(shown)
        }
    assert said == {"heads.json", "length.json", "alignment.json"}


def test_what_is_kept_of_one_folder_is_not_shown_for_another(
    weights: Path, tmp_path: Path, tiny: ModelConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    checkpoint.save(other, tiny, Transformer(tiny).state_dict(), tokenizer)
    found = []
    for folder in (weights, other):
        monkeypatch.setattr(session, "WEIGHTS", folder)
        projection = shipped.output_projection("cross", 2)
        reading = session.reading(SENTENCE, "", {"method": "greedy"})
        found.append((projection, reading, session.lifted(reading), session.loaded(folder)))
    for first, second in zip(*found, strict=True):
        assert first is not second


def test_once_the_weights_are_there_the_page_goes_on(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "late"
    monkeypatch.setattr(session, "WEIGHTS", folder)
    visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    visitor.follow("heads")
    assert visitor.errors
    shutil.copytree(weights, folder)
    visitor.app.run()
    assert not visitor.errors
    assert visitor.canvases()
