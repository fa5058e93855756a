"""One sentence as an HTML file that opens without a server, with the app's own canvases in it."""

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from model.alignment import Link
from model.trace import KINDS, Array, Candidate, Trace
from viz import payload, phrases
from viz.theme import LIGHT, THEMES, for_canvas

CANVAS = Path(__file__).parent / "canvas"
CANVASES = ("grid", "head", "translation")

# Nothing is loaded from anywhere, whatever a token says.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{source}</title>
<style>{css}</style>
</head>
<body>
<h1>{source}</h1>
<p class="told">{told}</p>
<div id="translation"></div>
<h2>Every head</h2>
<p class="told">{how} {caveat}</p>
<div class="switches"><span id="kinds"></span><span id="views"></span><span id="scales"></span></div>
<div class="heads-and-head"><div id="grid"></div><div><p id="opened"></p><div id="head"></div></div></div>
<noscript>The pictures are drawn by the script in this file; allow it to run.</noscript>
<script type="text/plain" id="payload">{data}</script>
<script type="module">{js}</script>
</body>
</html>
"""

ONE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>body {{ margin: 0; padding: 8px; }} {css}</style>
</head>
<body>
<script type="text/plain" id="payload">{data}</script>
<script type="module">{js}</script>
</body>
</html>
"""
RUN = """
const data = Uint8Array.from(atob(document.getElementById("payload").textContent), (one) => one.charCodeAt(0));
document.body.style.background = unpack(data).header.theme.background;
{canvas}({{ data, parentElement: document.body, setTriggerValue: () => {{}}, setStateValue: () => {{}} }});
"""


def page(
    trace: Trace,
    links: Sequence[Link],
    considered: Sequence[Sequence[Candidate]],
    *,
    opened: tuple[str, int, int],
    told: str,
    forced: bool = False,
) -> str:
    """The report of one sentence. `opened` is the kind, layer and head shown first; `told` a sentence about the run;
    `forced`: the reader gave the translation.

    All weights are in it as float32, so a printed number is the number.
    """
    translated = payload.translation(trace, links, considered, theme=LIGHT, step=1, forced=forced)
    return PAGE.format(
        policy=POLICY,
        source=escape(trace.source_text),
        told=escape(told),
        how=escape(phrases.ROWS_AND_COLUMNS),
        caveat=escape(phrases.CAVEAT),
        css="\n".join(_read(f"{name}.css") for name in ("canvas", "offline")),
        data=base64.b64encode(_payload(trace, translated, opened)).decode("ascii"),
        js="\n".join([functions(*CANVASES), _read("offline.js")]),
    )


def _payload(trace: Trace, translated: bytes, opened: tuple[str, int, int]) -> bytes:
    translation, _ = payload.unpack(translated)
    header: dict[str, Any] = {
        "themes": {name: for_canvas(theme) for name, theme in THEMES.items()},
        "kinds": {kind: payload.described(trace.map(kind, 1, 1)) for kind in KINDS},
        # Without its theme: the script puts in the one that the reader's browser asks for.
        "translation": {name: value for name, value in translation.items() if name != "theme"},
        "opened": dict(zip(("kind", "layer", "head"), opened, strict=True)),
    }
    arrays: dict[str, Array] = {}
    for kind in KINDS:
        arrays[kind] = trace.weights(kind).astype(np.float32)  # (L, H, T, S)
        arrays[f"{kind}_allowed"] = trace.map(kind, 1, 1).allowed.astype(np.uint8)
    return payload.pack(header, arrays)


def alone(canvas: str, message: bytes, *, title: str) -> str:
    """One canvas with its payload (viz/payload.py, viz/field.py …) as an HTML page that needs no server."""
    return ONE.format(
        policy=POLICY,
        title=escape(title),
        css=_read("canvas.css"),
        data=base64.b64encode(message).decode("ascii"),
        js="\n".join([functions(canvas), RUN.format(canvas=canvas)]),
    )


def functions(*canvases: str) -> str:
    """The canvases as functions of these names, in one module; each stands in a file that exports it."""
    parts = [_read(f"{name}.js") for name in ("common", "matrix", "hand", "export")]
    for name in canvases:
        body = _read(f"{name}.js").replace("export default function", "return function", 1)
        parts.append(f"const {name} = (() => {{\n{body}\n}})();")
    return "\n".join(parts)


def _read(name: str) -> str:
    return (CANVAS / name).read_text(encoding="utf-8")
