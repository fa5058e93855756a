"""Who keeps things between reruns: three modules, and each goes by the weights folder of the session."""

import ast

import pytest

from tests.pages.visitor import ROOT

KEEP = {"session.py", "shipped.py", "trials.py"}


def caching(path: str) -> list[ast.FunctionDef]:
    """The functions of a file whose results are kept."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [one for one in functions if any("cache" in ast.unparse(decorator) for decorator in one.decorator_list)]


def test_nobody_else_keeps_anything() -> None:
    files = (*ROOT.glob("pages/**/*.py"), ROOT / "app.py")
    assert {path.name for path in files if "cache_" in path.read_text(encoding="utf-8")} == KEEP


@pytest.mark.parametrize("name", sorted(KEEP))
def test_what_depends_on_the_weights_has_their_folder_in_its_key(name: str) -> None:
    for kept in caching(f"pages/parts/{name}"):
        needs_model = "loaded(" in ast.unparse(kept) or "folder" in ast.unparse(kept)
        assert not needs_model or kept.args.args[0].arg == "folder"
        assert "_folder" not in [argument.arg for argument in kept.args.args]  # Streamlit leaves such out of the key
