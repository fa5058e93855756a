"""What heads do, in pictures and tables: every head as a point, who has which role, one head beside its sentence."""

from collections.abc import Mapping, Sequence

import pandas as pd

from model.roles import RULES, STATISTICS, Row, roles
from viz.inside import signed
from viz.scatter import Axis, Point, axis

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
    """Each role with its threshold, its source, and how many heads have it, untrained ones as well."""
    columns = {"heads": "own", "untrained": "untrained", "rows shuffled": "shuffled"}
    counts = {title: [_count(rows, rule.name, column) for rule in RULES] for title, column in columns.items()}
    return pd.DataFrame(
        {
            "role": [rule.name for rule in RULES],
            **counts,
            "threshold": [rule.criterion for rule in RULES],
            "source": [rule.source for rule in RULES],
        }
    )


def _count(rows: Sequence[Row], role: str, column: str) -> int:
    return sum(role in roles(row, column) for row in rows)


def beside_sentence(row: Row, sentence: Mapping[str, float | None]) -> pd.DataFrame:
    """One head: each number over the corpus and in both baselines, and in this sentence alone."""
    kept = [
        (name, statistic)
        for name, statistic in STATISTICS.items()
        if statistic.value(row, "own") is not None or sentence.get(name) is not None
    ]
    columns = {
        "this sentence": [sentence.get(name) for name, _ in kept],
        "corpus": [statistic.value(row, "own") for _, statistic in kept],
        "rows shuffled": [statistic.value(row, "shuffled") for _, statistic in kept],
        "untrained": [statistic.value(row, "untrained") for _, statistic in kept],
    }
    numbers = {title: ["" if value is None else signed(value) for value in values] for title, values in columns.items()}
    labels, meanings = ([getattr(statistic, what) for _, statistic in kept] for what in ("label", "meaning"))
    return pd.DataFrame({"": labels, **numbers, "what it says": meanings})


def how_to_read(content: Row, drawn: Sequence[Point], *, heads: int, beside: str | None) -> str:
    """Under the picture: what a point is, what was counted over, and how many heads are not in it."""
    said = f"Filled: the head over {content['n']:,} sentence pairs."
    if any(point.baseline for point in drawn):
        said += f" Hollow: the same head {BASELINES[beside or '']}, joined to it while you point at it."
    elif beside:
        said += " There is no baseline for what silencing costs: an untrained model has nothing to lose."
    said += " Dashed: the threshold of a role."
    missing = heads - len(drawn)
    return f"{said} {missing} of {heads} heads lack one of the numbers and are not drawn." if missing else said
