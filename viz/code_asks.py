"""The views of the pages that ask, and of Layers, as lines of Python: each computes the very numbers of the page."""

from model.alignment import Reading
from viz.code_parts import LOADED, Chosen, again, is_shaped, run, shown, way

MEANS = "means = means_of(model, source, target)"


def surgery(chosen: Chosen) -> list[str]:
    """What the edits do to each step, what silencing each head costs, and the opened head."""
    measured = {**chosen, "measure": "raw"} if chosen.get("tool") in ("cell", "row") else chosen
    return [
        LOADED,
        run(chosen),
        run(chosen, "plain", edits=""),
        "source, target = [t.id for t in plain.source[:-1]], [t.id for t in plain.read[1:]]",
        MEANS,
        f"edits = parsed({chosen.get('edits') or ''!r})",
        "over = trace_of(model, tokenizer, source, target, edits=edits, means=means)",
        "moved = shift(plain, over)",
        *_costs(chosen),
        f"opened = {shown(measured, chosen['layer'], chosen['head'])}",
    ]


def _costs(chosen: Chosen) -> list[str]:
    by = repr(chosen.get("instead") or "zero")
    if chosen.get("harm") == "corpus":
        return [
            "rows = report.load(checkpoint.WEIGHTS).heads",
            f"cost = [-row['silenced'][{by}]['delta'] for row in rows if row['silenced']]",
        ]
    alone = [
        "every = all_heads(plain)",
        f"cost = losses(log_probabilities(model, source, target, each_alone(every, {by}), means=means))",
    ]
    order = chosen.get("removed") or "none"
    if order == "none":
        return alone
    return [
        *alone,
        f"gone = [every[n] for n in Importance(tuple(every), cost).ordered({order!r})]",
        f"lists = one_after_the_other(gone, {by})",
        "together = losses(log_probabilities(model, source, target, lists, means=means))",
    ]


def roles(chosen: Chosen) -> list[str]:
    """The head's numbers in this sentence, its map, and, where there is a report, every head over the corpus."""
    kind, layer, head = repr(chosen["kind"]), chosen["layer"], chosen["head"]
    corpus = [
        "rows = report.load(checkpoint.WEIGHTS).heads",
        "both = ({x!r}, {y!r})".format(**chosen),
        "points = [tuple(STATISTICS[name].value(row, 'own') for name in both) for row in rows]",
    ]
    return [
        LOADED,
        run(chosen),
        f"own = habits([trace])[{kind}, {layer}, {head}]['own']",
        "here = {name: statistic.value({'own': own}, 'own') for name, statistic in STATISTICS.items()}",
        *again(chosen, "without", f"parsed('silence-{chosen['kind']}-{layer}.{head}')"),
        "lost = (without.target_log_probabilities() - trace.target_log_probabilities()).mean()",
        f"opened = {shown({**chosen, 'measure': 'raw'}, layer, head)}",
        *(corpus if chosen.get("reported") else []),
    ]


def alignment(chosen: Chosen) -> list[str]:
    """The links, and the matrix of strengths."""
    head = chosen["cross_head"] if chosen.get("cross_heads") == "one" else None
    reading = Reading(chosen["cross_layer"], head, chosen["by"], chosen["rows"])
    german = f"axis(trace.predicted, words={chosen.get('units') == 'words'}, special='hidden').groups"
    cells = "strengths_between(trace, projection, reading, english, german)"
    return [
        LOADED,
        run(chosen),
        f"reading = {reading!r}",
        f"projection = output_projection(model, 'cross', {reading.layer})",
        "strength = word_strengths(trace, projection, reading)",
        "links = strongest(strength)",
        f"english = axis(trace.source, {way(chosen)}).groups",
        f"german = {german}",
        f"cells = {f'rescaled({cells})' if chosen.get('special') == 'renormalised' else cells}",
    ]


def compare(chosen: Chosen) -> list[str]:
    """How far every head moved between the two runs, and the opened head subtracted."""
    rollout = chosen.get("measure") == "rollout"
    heads = "[None]" if rollout else "range(1, trace.heads(kind) + 1)"
    head = None if rollout else chosen["head"]
    return [
        LOADED,
        *_both(chosen),
        "def opened(trace, kind, layer, head):",
        f"    return {shown(chosen, 'layer', 'head', kind='kind')}",
        "def every(trace, kind):",
        "    layers = range(1, trace.layers(kind) + 1)",
        f"    return [opened(trace, kind, layer, head) for layer in layers for head in {heads}]",
        *_moved(chosen, head),
        f"pair = [opened(trace, {chosen['kind']!r}, {chosen['layer']}, {head}) for trace in (one, other)]",
        "change = difference(*pair)",
    ]


def _both(chosen: Chosen) -> list[str]:
    against = chosen.get("against") or "sentence"
    if against == "translation":
        return [run(chosen, "one", target=""), run(chosen, "other")]
    if against == "edits":
        return [run(chosen, "one", edits=""), run(chosen, "other")]
    if against == "decoder":
        method = chosen["decoding"]["method"]
        other = {"method": "greedy"} if method == "beam" else {"method": "beam", "beam": chosen["beam"]}
        return [run(chosen, "one", target=""), run(chosen, "other", target="", decoding=other)]
    return [run(chosen, "one"), run(chosen, "other", sentence=chosen["other"], target="")]


def _moved(chosen: Chosen, head: int | None) -> list[str]:
    """Over all rows; if one is pinned and both runs have it, by that row alone, in the kinds that have it."""
    every = "moved = {kind: apart(every(one, kind), every(other, kind)) for kind in KINDS}"
    if not chosen.get("query"):
        return [every]
    counted = ("encoder",) if chosen["kind"] == "encoder" else ("masked", "cross")
    place = f"{chosen['kind']!r}, {chosen['layer']}, {head}"
    return [
        f"rows = match(*(opened(trace, {place}).rows for trace in (one, other)))",
        f"pinned = rows[{chosen['query']} - 1]",
        "row = [m for m in rows if m.is_shared].index(pinned) if pinned.is_shared else None",
        f"alone = {{kind: row if kind in {counted!r} else None for kind in KINDS}}",
        "moved = {kind: apart(every(one, kind), every(other, kind), row=alone[kind]) for kind in KINDS}",
    ]


def layers(chosen: Chosen) -> list[str]:
    """The chosen quantity over tokens and places, and what is left of the stream without a residual path."""
    side, seen = repr(chosen["side"]), f"vectors({{}}, {way(chosen)})" if is_shaped(chosen) else "{}"
    residual = chosen.get("residual") or "on"
    here = f"found.sublayers[{chosen.get('sublayer') or 1} - 1]"
    off = {
        "off": f"[NoResidual({here}.name, {here}.layer)]",
        "skipped": f"[SkipSublayer({here}.name, {here}.layer)]",
        "everywhere": "[NoResidual(each.name, each.layer) for each in found.sublayers]",
    }
    lines = [
        LOADED,
        run(chosen),
        f"found = stream({seen.format('trace')}, {side})",
        f"values = measured(found, {chosen.get('quantity') or 'length'!r})",
    ]
    if residual == "on":
        return lines
    return [
        *lines,
        *again(chosen, "edited", off[residual]),
        f"other = stream({seen.format('edited')}, {side})",
        "left = cosines(found.states, other.states)",
    ]
