"""The view of a page as lines of Python that make the same numbers, to be copied into a notebook or a script."""

from collections.abc import Callable, Mapping
from typing import Any

Chosen = Mapping[str, Any]  # the names of the address, with what the page proposed filled in


def lines(page: str, chosen: Chosen) -> str:
    """Code for what this page shows; at least the run behind it. Strings are literals, whatever was typed."""
    return "\n".join(_PAGES.get(page, _run)(chosen))


def _run(chosen: Chosen, name: str = "trace", **changes: Any) -> list[str]:
    """The capture behind the page, with what differs from the defaults."""
    chosen = {**chosen, **changes}
    options, imports = [], ["from model import checkpoint", "from model.capture import capture"]
    if chosen.get("target"):
        options.append(f"target={chosen['target']!r}")
    if chosen.get("decoding", {}).get("method", "greedy") != "greedy":
        imports.append("from model.decode import Decoding")
        options.append("decoding=Decoding({})".format(", ".join(f"{k}={v!r}" for k, v in chosen["decoding"].items())))
    if chosen.get("edits"):
        imports.append("from model.editlist import parsed")
        options.append(f"edits=parsed({chosen['edits']!r})")
    call = ", ".join(["*checkpoint.load()", repr(chosen["sentence"]), *options])
    return [*imports, f"{name} = capture({call})"]


def _translate(chosen: Chosen) -> list[str]:
    return [
        *_run(chosen),
        "for token, log_probability in zip(trace.predicted, trace.target_log_probabilities()):",
        "    print(token.text, log_probability)",
    ]


def _map(chosen: Chosen) -> str:
    return f"trace.map({chosen['kind']!r}, {chosen['layer']}, {chosen['head']})"


def _heads(chosen: Chosen) -> list[str]:
    words = chosen.get("units") == "words"
    pinned = f", pinned=({chosen['query']}, {chosen['key']})" if chosen.get("query") and chosen.get("key") else ""
    number = f"trace.heads({chosen['kind']!r})"
    at = f"({chosen['layer']} - 1) * {number} + {chosen['head']} - 1"
    return [
        *_run(chosen),
        "from model.ranking import all_maps",
        "from viz.notebook import head, heads",
        f"maps = all_maps(trace, {chosen['kind']!r}, words={words})",
        f"heads(maps, per_row={number})",
        f"head(maps[{at}]{pinned})",
    ]


def _masked_vs_cross(chosen: Chosen) -> list[str]:
    cross = f"trace.map('cross', {chosen['cross_layer'] or chosen['layer']}, {chosen['cross_head']})"
    return [
        *_run(chosen),
        "from viz.notebook import head",
        f"head(trace.map('masked', {chosen['layer']}, {chosen['head']}))",
        f"head({cross})",
    ]


def _inside(chosen: Chosen) -> list[str]:
    kind, layer, head = repr(chosen["kind"]), chosen["layer"], chosen["head"]
    return [
        *_run(chosen),
        f"query = trace.attention({kind}, {layer}, 'queries')[{head} - 1, {chosen['query']} - 1]",
        f"key = trace.attention({kind}, {layer}, 'keys')[{head} - 1, {chosen['key']} - 1]",
        "score = query @ key / len(query) ** 0.5",
        f"weight = {_map(chosen)}.weights[{chosen['query']} - 1, {chosen['key']} - 1]",
    ]


def _tensor(name: str, index: str = "") -> Callable[[Chosen], list[str]]:
    """A page about one captured tensor."""

    def code(chosen: Chosen) -> list[str]:
        at = {key: value if value is not None else 1 for key, value in chosen.items()}
        return [*_run(chosen), f"trace.tensors[{name.format(**at)!r}]{index.format(**at)}"]

    return code


def _positions(chosen: Chosen) -> list[str]:
    return [
        "from model.transformer import sinusoids",
        f"sinusoids({chosen.get('length') or 64}, {chosen.get('width') or 256})",
    ]


def _output(chosen: Chosen) -> list[str]:
    return [*_run(chosen), "import numpy", f"numpy.exp(trace.log_probabilities()[{chosen.get('step') or 1} - 1])"]


def _architecture(chosen: Chosen) -> list[str]:
    return [*_run(chosen), "{name: tensor.shape for name, tensor in trace.tensors.items()}"]


def _layers(chosen: Chosen) -> list[str]:
    said = (
        []
        if chosen.get("residual", "on") == "on"
        else ["# the run as trained: the switch of the residual path is left out"]
    )
    return [*said, *_tensor("{side}.layers.{layer}.feed_forward_residual.norm_tap", "[{position} - 1]")(chosen)]


_PAGES: dict[str, Callable[[Chosen], list[str]]] = {
    "translate": _translate,
    "heads": _heads,
    "masked_vs_cross": _masked_vs_cross,
    "inside_a_head": _inside,
    "architecture": _architecture,
    "tokens": _tensor("encoder.input.embeddings_tap"),
    "positions": _positions,
    "layers": _layers,
    "feed_forward": _tensor("{side}.layers.{layer}.feed_forward.active_tap", "[{position} - 1]"),
    "output": _output,
}
