"""Who may import whom: app → pages → viz → model.trace, and pages → model. Nothing points the other way."""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = {"app", "pages", "viz", "model", "tests", "benchmarks"}
# What of model/ knows no network, and may be used in viz/.
NUMBERS_ONLY = {
    "model.report", "model.findings", "model.card", "model.roles",
    "model.trace", "model.words", "model.alignment", "model.selection", "model.inside", "model.compare",
    "model.config", "model.parameters", "model.distribution", "model.loss", "model.lens", "model.beams",
    "model.stream", "model.neurons",
    "model.positions", "model.vectors", "model.pieces", "model.length_report", "model.contexts",
    "model.sums", "model.whole",
    "model.edits", "model.editlist", "model.importance", "model.rollout", "model.shift", "model.measures",
    "model.axis", "model.ranking",
}  # fmt: skip

# Imports each module in a process of its own, forked so that torch is loaded once. Prints what each brought along.
# Of a script (a path, not a module) only the import statements are executed.
ALONE = """
import ast, importlib, json, os, sys, traceback
preloaded, *names = sys.argv[1:]
for name in filter(None, preloaded.split(",")):
    importlib.import_module(name)

def bring_in(name):
    if not name.endswith(".py"):
        return importlib.import_module(name)
    tree = ast.parse(open(name, encoding="utf-8").read())
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    exec(compile(tree, name, "exec"), {})

for name in names:
    if os.fork() == 0:
        try:
            bring_in(name)
            error = ""
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps([name, error, sorted(sys.modules)]), flush=True)
        os._exit(0)
    os.wait()
"""


def modules_in(*folders: str) -> list[str]:
    """Dotted names of the Python files in these folders, folders below them not included."""
    files = [path.relative_to(ROOT) for folder in folders for path in sorted((ROOT / folder).glob("*.py"))]
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files]


@cache
def imported_alone(names: tuple[str, ...], *preloaded: str) -> dict[str, tuple[str, set[str]]]:
    """For each module or script the traceback of its import, if it failed, and all modules loaded afterwards."""
    command = [sys.executable, "-c", ALONE, ",".join(preloaded), *names]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name: (error, set(loaded)) for name, error, loaded in map(json.loads, ran.stdout.splitlines())}


def ours(loaded: set[str]) -> set[str]:
    return {name for name in loaded if name.partition(".")[0] in OURS}


MODEL = tuple(name for name in modules_in("model") if name not in NUMBERS_ONLY)
WITHOUT_TORCH = (*sorted(NUMBERS_ONLY), *modules_in("viz"))
SCRIPTS = [path for path in sorted(ROOT.glob("pages/*/*.py")) if path.parent.name != "parts"]
PAGES = (*modules_in("pages/parts"), *(str(path.relative_to(ROOT)) for path in [*ROOT.glob("app.py"), *SCRIPTS]))


@pytest.mark.parametrize("module", MODEL)
def test_model_imports_alone_and_knows_no_screen(module: str) -> None:
    error, loaded = imported_alone(MODEL, "torch", "sacrebleu", "sentencepiece", "safetensors.torch")[module]
    assert not error, error
    assert not loaded & {"streamlit", "plotly", "pandas"}
    assert {name.partition(".")[0] for name in ours(loaded)} == {"model"}


@pytest.mark.parametrize("module", WITHOUT_TORCH)
def test_viz_and_the_trace_import_alone_and_know_no_network(module: str) -> None:
    error, loaded = imported_alone(WITHOUT_TORCH)[module]
    assert not error, error
    assert not loaded & {"torch", "streamlit", "sacrebleu", "sentencepiece", "safetensors"}
    allowed = {"model"} | NUMBERS_ONLY
    assert {name for name in ours(loaded) if not name.startswith(module.partition(".")[0])} <= allowed


@pytest.mark.parametrize("name", PAGES)
def test_pages_and_their_parts_import_alone_and_leave_torch_for_later(name: str) -> None:
    """Torch takes more than a second; the title is drawn before it is loaded."""
    error, loaded = imported_alone(PAGES, "streamlit")[name]
    assert not error, error
    assert "torch" not in loaded
    assert {name.partition(".")[0] for name in ours(loaded)} <= {"pages", "viz", "model"}


@pytest.mark.parametrize("package", ["model", "viz"])
def test_a_room_s_door_imports_nothing(package: str) -> None:
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
