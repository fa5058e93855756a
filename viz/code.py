"""The view of a page as lines of Python that make the same numbers, to be copied into a notebook or a script."""

from collections.abc import Callable

from viz import code_asks
from viz.code_parts import LOADED, Chosen, again, imports, is_shaped, run, shown, way
from viz.pair import PADDING


def lines(page: str, chosen: Chosen) -> str:
    """Code for what this page shows; at least the run behind it. Strings are literals, whatever was typed."""
    made = _PAGES.get(page, _run)(chosen)
    return "\n".join([*imports(made), *made])


def _run(chosen: Chosen) -> list[str]:
    return [LOADED, run(chosen)]


def _translate(chosen: Chosen) -> list[str]:
    return [
        *_run(chosen),
        "for token, log_probability in zip(trace.predicted, trace.target_log_probabilities()):",
        "    print(token.text, log_probability)",
    ]


def _heads(chosen: Chosen) -> list[str]:
    pinned = f", pinned=({chosen['query']}, {chosen['key']})" if chosen.get("query") and chosen.get("key") else ""
    kind, rollout = repr(chosen["kind"]), chosen.get("measure") == "rollout"
    numbers = "[None]" if rollout else f"range(1, trace.heads({kind}) + 1)"
    return [
        *_run(chosen),
        f"layers, numbers = range(1, trace.layers({kind}) + 1), {numbers}",
        f"maps = [{shown(chosen, 'layer', 'number')} for layer in layers for number in numbers]",
        "heads(maps, per_row=len(numbers))",
        f"opened = {shown(chosen, chosen['layer'], None if rollout else chosen['head'])}",
        f"head(opened{pinned})",
    ]


def _masked_vs_cross(chosen: Chosen) -> list[str]:
    mean = chosen.get("heads") == "mean"
    sides = {
        "masked": (chosen["layer"], chosen["head"]),
        "cross": (chosen["cross_layer"] or chosen["layer"], chosen["cross_head"]),
    }
    drawn = [
        f"{kind} = {shown(chosen, layer, None if mean else number, kind=repr(kind))}"
        for kind, (layer, number) in sides.items()
    ]
    anew = []
    if chosen.get("mask") == "lifted":
        anew = again(chosen, "trace", "parsed('lift_mask')")
    elif chosen.get("padding") == "padded":
        anew = again(chosen, "trace", padding=PADDING)
    name = chosen.get("drawn_stage", "softmax")
    values = f"values = [stage({name!r}, one, trace).values for one in (masked, cross)]"
    return [*_run(chosen), *anew, *drawn, *(["head(masked)", "head(cross)"] if name == "softmax" else [values])]


def _inside(chosen: Chosen) -> list[str]:
    kind, layer, number = repr(chosen["kind"]), chosen["layer"], chosen["head"]
    place = f"{chosen['query']} - 1, {chosen['key']} - 1"
    cell = f"piece_cell(trace, {kind}, {layer}, {number}, {place}, {way(chosen)})" if is_shaped(chosen) else place
    return [
        *_run(chosen),
        f"row, column = {cell}",
        f"query = trace.attention({kind}, {layer}, 'queries')[{number} - 1, row]",
        f"key = trace.attention({kind}, {layer}, 'keys')[{number} - 1, column]",
        "score = query @ key / len(query) ** 0.5",
        f"weight = trace.map({kind}, {layer}, {number}).weights[row, column]",
    ]


def _vectors(name: str) -> Callable[[Chosen], list[str]]:
    """A page about one captured tensor of vectors, with tokens as the switches ask."""

    def code(chosen: Chosen) -> list[str]:
        seen = f"vectors(trace, {way(chosen)})" if is_shaped(chosen) else "trace"
        return [*_run(chosen), f"{seen}.tensors[{name.format(**chosen)!r}]"]

    return code


def _feed_forward(chosen: Chosen) -> list[str]:
    name = f"{chosen['side']}.layers.{chosen.get('layer') or 1}.feed_forward.active_tap"
    return [*_run(chosen), f"trace.tensors[{name!r}][{chosen.get('position') or 1} - 1]"]


def _positions(chosen: Chosen) -> list[str]:
    length, width = chosen.get("length") or 64, chosen.get("width") or 256
    return [
        f"cosines_by_distance = similarity(numpy.arange({length}), {width}) / ({width} / 2)",
        f"turned_by = rotations({chosen.get('shift') or 1}, {width})  # of each frequency",
        f"sinusoids({length}, {width})",
    ]


def _output(chosen: Chosen) -> list[str]:
    settings = ", ".join(f"{name}={chosen[name]!r}" for name in ("temperature", "top_k", "top_p") if name in chosen)
    step = chosen.get("step") or 1
    return [
        *_run(chosen),
        f"drawn = sampled(trace.log_probabilities(), Settings({settings}))[{step} - 1]",
        f"numpy.exp(trace.log_probabilities()[{step} - 1])",
    ]


def _architecture(chosen: Chosen) -> list[str]:
    return [*_run(chosen), "{name: tensor.shape for name, tensor in trace.tensors.items()}"]


_PAGES: dict[str, Callable[[Chosen], list[str]]] = {
    "translate": _translate,
    "heads": _heads,
    "masked_vs_cross": _masked_vs_cross,
    "inside_a_head": _inside,
    "architecture": _architecture,
    "tokens": _vectors("{side}.input.embeddings_tap"),
    "positions": _positions,
    "layers": code_asks.layers,
    "feed_forward": _feed_forward,
    "output": _output,
    "surgery": code_asks.surgery,
    "roles": code_asks.roles,
    "alignment": code_asks.alignment,
    "compare": code_asks.compare,
}
