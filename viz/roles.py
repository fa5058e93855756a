"""What heads do, in pictures and tables: every head as a point, who has which role, one head beside its sentence."""

from collections.abc import Mapping, Sequence

import pandas as pd

from model.findings import ALIGNED, CONFIDENT, SYNTACTIC
from model.findings import POSITIONAL as POSITIONAL_SHARE
from model.roles import RULES, STATISTICS, Row, best_way, roles
from viz.inside import signed
from viz.scatter import Axis, Point, axis

POSITIONAL = (
    f"A head is called positional if its confidence is above {CONFIDENT} and at least {POSITIONAL_SHARE:.0%} of its "
    "largest weights are on the token before, or as many on the token after"
)
# What lies beyond the dashed line of an axis.
BEYOND = {
    "confidence": f"Dashed: a confidence of {CONFIDENT}, one half of a rule. {POSITIONAL}.",
    "previous": f"Dashed: {POSITIONAL_SHARE:.0%}, one half of a rule. {POSITIONAL}.",
    "next": f"Dashed: {POSITIONAL_SHARE:.0%}, one half of a rule. {POSITIONAL}.",
    "relation": f"Dashed: {100 * SYNTACTIC:.0f} points above the best fixed offset, from where on a head is syntactic.",
    "aer": f"Dashed: {ALIGNED:.0f} % AER, up to where a head is one of alignment.",
}
# What is counted over another corpus than the pairs, by its name in a report.
OVER = {
    "relation": ("trees", "Dependencies: over the trees of {file}."),
    "aer": ("gold", "AER: over the last half of {file}, each head read in the way that is best on its first half."),
    "silenced": ("silence", "Silencing: over {file}."),
    "held": ("silence", "Silencing: over {file}."),
}
BASELINES = {"untrained": "before training", "shuffled": "with rows shuffled"}
NO_ROLE = (
    "What a head does in one sentence is not its role: a number over few rows may be far from that over thousands. "
    "Dependencies, error rates and what is lost at the mean need a corpus, or words that somebody has linked."
)


def name(row: Row) -> str:
    return f"{row['kind']}, layer {row['layer']}, head {row['head']}"


def points(rows: Sequence[Row], x: str, y: str, *, beside: str | None) -> list[Point]:
    """The heads that have both numbers, and where each is in the baseline `beside`, if it has them there."""
    found = []
    for row in rows:
        own = _both(row, "own", x, y)
        if own is not None:
            baseline = _both(row, beside, x, y) if beside else None
            there = f"{name(row)}, {BASELINES[beside]}: {_numbers(x, y, baseline)}." if beside and baseline else ""
            found.append(
                Point(
                    kind=row["kind"],
                    layer=row["layer"],
                    head=row["head"],
                    x=own[0],
                    y=own[1],
                    said=f"{name(row)}{_named(row)}: {_numbers(x, y, own)}.",
                    label=label(row),
                    baseline=baseline,
                    baseline_said=there,
                )
            )
    return found


def _both(row: Row, column: str, x: str, y: str) -> tuple[float, float] | None:
    here, there = (STATISTICS[name].value(row, column) for name in (x, y))
    return None if here is None or there is None else (here, there)


def _numbers(x: str, y: str, values: tuple[float, float]) -> str:
    return ", ".join(f"{STATISTICS[name].label} {signed(value)}" for name, value in zip((x, y), values, strict=True))


def _named(row: Row) -> str:
    found = [f"{role}: {said}" for role, said in roles(row).items()]
    return f" ({'; '.join(found)})" if found else ""


def label(row: Row) -> str:
    """Beside the point of a head that has a role: where it is, and what it is called."""
    found = roles(row)
    return f"{row['layer']}·{row['head']} {', '.join(found)}" if found else ""


def axes(found: Sequence[Point], x: str, y: str) -> tuple[Axis, Axis]:
    """Both axes, with room for the baseline as well."""
    there = [point.baseline for point in found if point.baseline]
    across = [point.x for point in found] + [place[0] for place in there]
    up = [point.y for point in found] + [place[1] for place in there]
    return _axis(x, across), _axis(y, up)


def _axis(name: str, values: Sequence[float]) -> Axis:
    statistic = STATISTICS[name]
    return axis(statistic.label, values, ends=statistic.ends, threshold=statistic.threshold)


def table(rows: Sequence[Row], x: str, y: str, *, beside: str | None) -> pd.DataFrame:
    """Every head with both numbers and its roles."""
    columns: dict[str, list[object]] = {"head": [name(row) for row in rows]}
    for column in ("own", beside) if beside else ("own",):
        for statistic in (STATISTICS[name] for name in dict.fromkeys((x, y))):
            title = statistic.label if column == "own" else f"{statistic.label}, {BASELINES[column]}"
            columns[title] = [statistic.value(row, column) for row in rows]
    columns["role"] = [", ".join(f"{role}: {said}" for role, said in roles(row).items()) for row in rows]
    return pd.DataFrame(columns)


def rules(rows: Sequence[Row]) -> pd.DataFrame:
    """How many heads have each role, untrained ones as well."""
    columns = {"heads": "own", "untrained": "untrained", "shuffled": "shuffled"}
    counts = {title: [_count(rows, rule.name, column) for rule in RULES] for title, column in columns.items()}
    return pd.DataFrame({"role": [rule.name for rule in RULES], **counts})


def criteria() -> str:
    """When a head gets which name, and who set that bar, as a list for Markdown."""
    return "\n".join(f"* **{rule.name}**: {rule.criterion} ({rule.source})" for rule in RULES)


def _count(rows: Sequence[Row], role: str, column: str) -> int:
    return sum(role in roles(row, column) for row in rows)


def beside_sentence(content: Row, row: Row, sentence: Mapping[str, float | None]) -> pd.DataFrame:
    """One head: each number over the corpus and in both baselines, and in this sentence alone (here)."""
    kept = [
        (name, statistic)
        for name, statistic in STATISTICS.items()
        if statistic.value(row, "own") is not None or sentence.get(name) is not None
    ]
    columns = {
        "here": [sentence.get(name) for name, _ in kept],
        "corpus": [statistic.value(row, "own") for _, statistic in kept],
        "shuffled": [statistic.value(row, "shuffled") for _, statistic in kept],
        "untrained": [statistic.value(row, "untrained") for _, statistic in kept],
    }
    numbers = {title: ["" if value is None else signed(value) for value in values] for title, values in columns.items()}
    meanings = [_aer_of(content, row) if name == "aer" else statistic.meaning for name, statistic in kept]
    return pd.DataFrame({"": [statistic.label for _, statistic in kept], **numbers, "what it says": meanings})


def _aer_of(content: Row, row: Row) -> str:
    """The corpus of an error rate, and the way in which the head is read; there may be none but in this sentence."""
    if "aer" not in row["own"]:
        return STATISTICS["aer"].meaning
    return (
        f"alignment error rate on the last half of {_file(content, 'gold')}, by {best_way(row)}: best on the first half"
    )


def _file(content: Row, corpus: str) -> str:
    return str(content["corpus"][corpus]["file"])


def how_to_read(content: Row, drawn: Sequence[Point], x: str, y: str, *, heads: int, beside: str | None) -> str:
    """Under the picture: what a point is, what was counted over, and how many heads are not in it."""
    said = [f"Filled: the head over {content['n']:,} sentence pairs of {_file(content, 'pairs')}."]
    over = [OVER[name] for name in (x, y) if name in OVER]
    said += [sentence.format(file=_file(content, corpus)) for corpus, sentence in over if corpus in content["corpus"]]
    if any(point.baseline for point in drawn):
        said.append(f"Hollow: the same head {BASELINES[beside or '']}, joined to the one that is chosen.")
    elif beside:
        said.append("There is no baseline for what silencing costs: an untrained model has nothing to lose.")
    said += [BEYOND[name] for name in (x, y) if name in BEYOND]
    if missing := heads - len(drawn):
        said.append(f"{missing} of {heads} heads lack one of the numbers and are not drawn.")
    return " ".join(dict.fromkeys(said))
