"""Lines of Python that several pages need: the run behind a page, another run of its translation, and maps as shown."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

Chosen = Mapping[str, Any]  # the names of the address, with what the page proposed filled in

IMPORTS = {
    "checkpoint": "from model import checkpoint",
    "axis": "from model.axis import axis",
    "vectors": "from model.axis import vectors",
    "capture": "from model.capture import capture",
    "trace_of": "from model.capture import trace_of",
    "apart": "from model.compare import apart",
    "difference": "from model.compare import difference",
    "match": "from model.compare import match",
    "MAX_PIECES": "from model.config import MAX_PIECES",
    "Decoding": "from model.decode import Decoding",
    "Settings": "from model.distribution import Settings",
    "sampled": "from model.distribution import sampled",
    "parsed": "from model.editlist import parsed",
    "NoResidual": "from model.edits import NoResidual",
    "SkipSublayer": "from model.edits import SkipSublayer",
    "habits": "from model.habits import habits",
    "Importance": "from model.importance import Importance",
    "all_heads": "from model.importance import all_heads",
    "each_alone": "from model.importance import each_alone",
    "losses": "from model.importance import losses",
    "one_after_the_other": "from model.importance import one_after_the_other",
    "output_projection": "from model.inside import output_projection",
    "rolled_out": "from model.measures import rolled_out",
    "value_weighted": "from model.measures import value_weighted",
    "rotations": "from model.positions import rotations",
    "similarity": "from model.positions import similarity",
    "report": "from model import report",
    "STATISTICS": "from model.roles import STATISTICS",
    "Reading": "from model.alignment import Reading",
    "strengths_between": "from model.alignment import strengths_between",
    "strongest": "from model.alignment import strongest",
    "word_strengths": "from model.alignment import word_strengths",
    "piece_cell": "from model.selection import piece_cell",
    "rescaled": "from model.selection import rescaled",
    "shaped": "from model.selection import shaped",
    "shift": "from model.shift import shift",
    "cosines": "from model.stream import cosines",
    "measured": "from model.stream import measured",
    "stream": "from model.stream import stream",
    "KINDS": "from model.trace import KINDS",
    "sinusoids": "from model.transformer import sinusoids",
    "log_probabilities": "from model.what_if import log_probabilities",
    "means_of": "from model.what_if import means_of",
    "head": "from viz.notebook import head",
    "heads": "from viz.notebook import heads",
    "stage": "from viz.stages import stage",
    "numpy": "import numpy",
}
LOADED = "model, tokenizer = checkpoint.load()"
IDS = "source, target = [t.id for t in trace.source[:-1]], [t.id for t in trace.read[1:]]"


def imports(lines: Sequence[str]) -> list[str]:
    """What these lines need to have imported."""
    names = [node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.Name | ast.arg)]
    made = {node.arg if isinstance(node, ast.arg) else node.id for node in names if not _is_read(node)}
    read = {node.id for node in names if isinstance(node, ast.Name) and _is_read(node)}
    return [said for name, said in IMPORTS.items() if name in read - made]


def _is_read(node: ast.Name | ast.arg) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def run(chosen: Chosen, name: str = "trace", **changes: Any) -> str:
    """The capture behind the page, with what differs from the defaults. It needs `model` and `tokenizer`."""
    chosen = {**chosen, **changes}
    options = []
    if (chosen.get("target") or "").strip():
        options.append(f"target={chosen['target']!r}")
    if chosen.get("decoding", {}).get("method", "greedy") != "greedy":
        options.append("decoding=Decoding({})".format(", ".join(f"{k}={v!r}" for k, v in chosen["decoding"].items())))
    if chosen.get("edits"):
        options.append(f"edits=parsed({chosen['edits']!r})")
    return f"{name} = capture({', '.join(['model, tokenizer', repr(chosen['sentence']), *options])})"


def again(chosen: Chosen, name: str, more: str = "()", *, padding: int = 0) -> list[str]:
    """The run over the same translation, padded or under more edits, an expression for them; `trace` is there."""
    room = "MAX_PIECES - max(len(source), len(target))"
    padded = f", padding=min({padding}, {room})" if padding else ""
    if not chosen.get("edits"):
        return [IDS, f"{name} = trace_of(model, tokenizer, source, target, edits={more}{padded})"]
    edits = f"[*parsed({chosen['edits']!r}), *{more}]"
    return [
        IDS,
        run(chosen, "unedited", edits=""),
        "means = means_of(model, source, [t.id for t in unedited.read[1:]])",
        f"{name} = trace_of(model, tokenizer, source, target, edits={edits}, means=means{padded})",
    ]


def shown(chosen: Chosen, layer: Any, head: Any, *, kind: str | None = None, trace: str = "trace") -> str:
    """The expression for one head, by the chosen measure and with tokens as the switches ask. layer, head: literals."""
    kind = kind or repr(chosen["kind"])
    place = f"{kind}, {layer}, {head}"
    measure = chosen.get("measure", "raw")
    if measure == "rollout":
        found = f"rolled_out({trace}, {kind}, {layer})"
    elif measure == "value":
        found = f"value_weighted({trace}, output_projection(model, {kind}, {layer}), {place})"
    else:
        found = f"{trace}.mean({kind}, {layer})" if head is None else f"{trace}.map({place})"
    return f"shaped({found}, {way(chosen)})" if is_shaped(chosen) else found


def is_shaped(chosen: Chosen) -> bool:
    return chosen.get("units", "pieces") == "words" or chosen.get("special", "shown") != "shown"


def way(chosen: Chosen) -> str:
    """Both switches of the axes, as arguments."""
    return f"words={chosen.get('units') == 'words'}, special={chosen.get('special') or 'shown'!r}"
