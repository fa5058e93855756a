"""The app without a browser, on a model with 3 encoder layers, 2 decoder layers and 5 heads, trained for 3 seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import checkpoint
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from pages.parts import session
from tests.pages.visitor import PATIENCE, ROOT, Visitor


@pytest.fixture(scope="module")
def visitor(weights: Path) -> Iterator[Visitor]:
    """One session for all tests of a file: each begins by following a link, so that none depends on another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WEIGHTS", weights)
        yield Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))


@pytest.fixture(scope="session")
def loaded(weights: Path) -> tuple[Transformer, Tokenizer]:
    """The model of the app, loaded apart from it."""
    return checkpoint.load(weights)
