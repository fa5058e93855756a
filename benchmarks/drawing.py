"""All heads of one sentence in a real Chromium: our canvas against bertviz, both of the shipped model's own weights.

python -m benchmarks.drawing [--scripts FOLDER] [--json]     bytes, and milliseconds until all heads are painted

bertviz loads d3, jQuery and RequireJS from another host; here they are served beside its page, out of the folder that
`npm install d3@5.7.0 jquery@2.2.4 requirejs@2.3.6` makes. bertviz writes its numbers twice, once into a comment: it is
also measured without that.
"""

import re
import statistics
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Browser

from benchmarks import peers, texts, told
from benchmarks.screen import browsing, new_page
from benchmarks.told import Bar, Row
from model import checkpoint, ranking
from model.capture import WEIGHTS, trace_of
from model.trace import KINDS, AttentionMap, Trace
from viz import offline, payload
from viz.theme import LIGHT

MODULES = Path(__file__).resolve().parents[1] / "runs" / "peers" / "node_modules"
SIZES = (16, 32, 64, 128)
LARGEST = 256  # drawn by us alone
ROUNDS = {16: 5, 32: 5, 64: 5, 128: 3, 256: 3}
JUDGED = 64
FEWER, SOONER = 20.0, 10.0  # bytes and milliseconds, at JUDGED
SCRIPTS = {  # how the addresses end that bertviz loads from, and where it is in --scripts
    "require.js/2.3.6/require.min.js": "requirejs/require.js",
    "d3/5.7.0/d3.min": "d3/dist/d3.min.js",
    "jquery/2.0.0/jquery.min": "jquery/dist/jquery.min.js",
}
COMMENT = "// HACK: PYTHON_PARAMS"

# Both draw in one go, so that the next frame but one comes after everything has been painted.
PAINTED = """(drawn) => new Promise((done) => {
  const look = () => requestAnimationFrame(drawn() ? () => requestAnimationFrame(() => done(performance.now())) : look);
  look();
})"""
DRAWN = {
    "ours": "() => (document.querySelector('canvas[data-marker=grid]')?.height ?? 0) > 200",
    "bertviz": "() => document.querySelectorAll('.attn_background').length === HEADS",
}


def traced(n: int) -> Trace:
    """The model over n + n pieces."""
    model, tokenizer = checkpoint.load()
    source, target = texts.pieces(tokenizer, texts.ENGLISH, n - 1), texts.pieces(tokenizer, texts.GERMAN, n - 1)
    return trace_of(model, tokenizer, source, target, keep=(*WEIGHTS, "scores_tap"))


def all_maps(trace: Trace) -> list[AttentionMap]:
    return [shown for kind in KINDS for shown in ranking.all_maps(trace, kind, words=False)]


def our_message(maps: Sequence[AttentionMap], per_row: int) -> bytes:
    """What the app sends to the browser."""
    captions = [f"{m.layer}.{m.head}" for m in maps]
    return payload.grid(maps, theme=LIGHT, opened=None, pinned=None, linear=False, per_row=per_row, captions=captions)


def bertviz_page(trace: Trace, folder: str) -> str:
    """bertviz `model_view` of the same heads: the layers of every kind one after the other, in one picture."""
    view = peers.peer("bertviz").model_view
    layers = [torch.from_numpy(layer)[None] for kind in KINDS for layer in trace.weights(kind)]
    html = view(attention=layers, tokens=[token.text for token in trace.source], html_action="return").data
    return served_beside(str(html), folder)


def served_beside(html: str, folder: str) -> str:
    """The page with every script of SCRIPTS from this folder of its own host."""
    for remote, local in SCRIPTS.items():  # RequireJS puts .js behind a name by itself, HTML does not
        here = f"/{folder}/{local if remote.endswith('.js') else local[:-3]}"
        html = re.sub(rf"""(?:https?:)?//[^\s"']*/{re.escape(remote)}""", here, html)
    return html


def without_duplicate(html: str) -> str:
    """The same page without the comment into which bertviz writes all numbers a second time."""
    begin = html.index(COMMENT.split("PYTHON")[0])
    return html[:begin] + html[html.index("\n", begin) :]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The files of a folder, at the address that is given."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def milliseconds(browser: Browser, url: str, drawn: str) -> float:
    """From the request to the painted picture, in a fresh context."""
    with new_page(browser) as page:
        page.goto(url, wait_until="commit")
        return float(page.evaluate(f"({PAINTED})({drawn})"))


def measured(browser: Browser, folder: Path, url: str, n: int, *, with_peer: bool) -> Row:
    trace = traced(n)
    maps = all_maps(trace)
    message = our_message(maps, trace.heads("cross"))
    pages = {"ours": offline.alone("grid", message, title=f"{n} pieces")}
    if with_peer:
        pages["bertviz"] = bertviz_page(trace, "scripts")
        pages["without duplicate"] = without_duplicate(pages["bertviz"])
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    code = len(pages["ours"].encode()) - len(message) * 4 // 3  # of the canvas
    sizes = {name: len(html.encode()) for name, html in pages.items()} | {"ours": len(message) + code}
    times: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(ROUNDS[n]):
        for name in pages:
            drawn = DRAWN["ours" if name == "ours" else "bertviz"].replace("HEADS", str(len(maps)))
            times[name].append(milliseconds(browser, f"{url}/{name}.html".replace(" ", "%20"), drawn))
    return compared(n, len(maps), sizes, {name: statistics.median(taken) for name, taken in times.items()})


def compared(n: int, heads: int, sizes: Mapping[str, int], times: Mapping[str, float]) -> Row:
    row: dict[str, Any] = {"pieces": n, "heads": heads}
    row |= {f"{name} kB": round(size / 1000) for name, size in sizes.items()}
    row |= {f"{name} ms": round(taken) for name, taken in times.items()}
    for name in list(sizes)[1:]:
        row |= {f"fewer bytes than {name}": round(sizes[name] / sizes["ours"], 1)}
        row |= {f"sooner than {name}": round(times[name] / times["ours"], 1)}
    return row


def bars(row: Row) -> list[Bar]:
    return [
        Bar(f"{key} at {JUDGED}", row[key], FEWER if key.startswith("fewer") else SOONER, at_most=False)
        for key in row
        if " than " in key
    ]


def why_not(scripts: Path) -> str:
    """What is missing to measure bertviz; empty if nothing is."""
    try:
        peers.peer("bertviz")
    except peers.MissingError as error:
        return str(error)
    absent = [local for local in SCRIPTS.values() if not (scripts / local).is_file()]
    return f"bertviz not measured: there is no {absent[0]} in {scripts}; see benchmarks/README.md." if absent else ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = told.parser("drawing", __doc__)
    parser.add_argument("--scripts", type=Path, default=MODULES, help="node_modules that npm made, see above")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    why = why_not(options.scripts)
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as url, browsing() as browser:
        folder = Path(name)
        if not why:
            (folder / "scripts").symlink_to(options.scripts.absolute())
        rows = [measured(browser, folder, url, n, with_peer=not why) for n in SIZES]
        rows.append(measured(browser, folder, url, LARGEST, with_peer=False))
    judged = next(row for row in rows if row["pieces"] == JUDGED)
    more = {"missing": why} if why else {}
    told.tell("drawing", rows, bars(judged), as_json=options.json, **more)


if __name__ == "__main__":
    main()
