"""What the app must never do: run what it reads, call another host, take tokens for markup, open itself to others."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
from streamlit import config

ROOT = Path(__file__).resolve().parents[1]
OURS = [ROOT / "app.py", *(path for room in ("model", "viz", "pages") for path in sorted((ROOT / room).rglob("*.py")))]
NEVER_IMPORTED = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
NEVER_IMPORTED |= {"requests", "httpx", "aiohttp", "ftplib", "smtplib", "telnetlib", "socket"}
NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
NEVER_NAMED = {"urlopen", "urlretrieve", "allow_pickle", "unsafe_allow_html", "unsafe_allow_javascript"}
LOADS = {"torch": ("load", "save"), "os": ("system", "popen")}


def complaints(source: str) -> list[str]:
    """What a Python file does that none of ours may do."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            names = [module] if module else [alias.name for alias in node.names]
            found += [f"imports {name}" for name in names if name.partition(".")[0] in NEVER_IMPORTED]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NEVER_CALLED:
            found.append(f"calls {node.func.id}")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found += [f"{node.value.id}.{node.attr}"] if node.attr in LOADS.get(node.value.id, ()) else []
        for name in (getattr(node, "attr", None), getattr(node, "id", None), getattr(node, "arg", None)):
            found += [f"names {name}"] if name in NEVER_NAMED else []
    return found


def test_nothing_of_ours_runs_what_it_reads_or_calls_another_host() -> None:
    found = {str(path.relative_to(ROOT)): said for path in OURS if (said := complaints(path.read_text("utf-8")))}
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import requests.sessions",
        "eval('1')",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "st.markdown(text, unsafe_allow_html=True)",
        "urllib.request.urlopen(url)",
    ],
)
def test_the_look_for_it_finds_it(line: str) -> None:
    assert complaints(line)
    assert not complaints("model.eval()\nnp.load(path)\nst.markdown(text)\nimport json")


def test_canvases_neither_run_text_nor_make_markup_of_it() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc|DOMParser"
        r"|\beval\(|new Function|set(?:Timeout|Interval)\(\s*['\"`]"
        r"|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\("
    )
    found = {path.name: forbidden.findall(path.read_text("utf-8")) for path in (ROOT / "viz/canvas").glob("*.js")}
    assert not {name: said for name, said in found.items() if said}
    assert len(found) > 10


def test_streamlit_keeps_foreign_pages_and_forged_requests_out() -> None:
    """Its own defaults do; what matters is that nobody turns them off."""
    said = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]
    assert not {"enableCORS", "enableXsrfProtection", "corsAllowedOrigins", "enableStaticServing"} & said.keys()
    defaults = config._config_options_template
    assert defaults["server.enableCORS"].value is True
    assert defaults["server.enableXsrfProtection"].value is True
    assert defaults["server.enableStaticServing"].value is False
