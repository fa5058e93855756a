"""A report as tables in Markdown, for the card of a weights folder. No torch."""

from collections.abc import Sequence
from typing import Any

from model.report import COLUMNS, HALVES, Report

Row = dict[str, Any]

NAMES = "head|entropy|distance|−1|0|+1|confidence|special|marks|relation, or AER|by 0|by mean".split("|")
HOW_TO_READ = """\
Entropy: divided by that of a uniform row. Distance: in pieces. −1, 0, +1: share of largest weights on the word before,
itself, the word after. Confidence: mean largest weight on words. Special, marks: share of weight on `<s>` and `</s>`,
on punctuation. Relation: the dependency in which the head is furthest above the best fixed offset, chosen on one half
of the trees, how often both are right on the other; none if it is not above. AER: of the reading that is best on the
first half of the gold, on the last half. By 0, by mean: Δ ln P per token with this head silenced, in thousandths; *
where the interval leaves out 0. In brackets: rows shuffled, untrained.
"""


def heads_table(report: Report) -> str:
    """All heads, a line for each, with how to read it."""
    lines = [_line(NAMES), _line(["---"] * len(NAMES)), *(_line(_cells(row)) for row in report.heads)]
    return "\n".join([HOW_TO_READ, *lines, "", _corpus(report), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row) -> list[str]:
    places = [_beside(row, name) for name in ("entropy_of_uniform", "distance", "previous", "same", "next")]
    rest = [_beside(row, name) for name in ("confidence", "special", "marks")]
    return [f"{row['kind']} {row['layer']}.{row['head']}", *places, *rest, _role(row), *_lost(row)]


def _beside(row: Row, name: str) -> str:
    """A number with both baselines in brackets; a dash where there is none."""
    own, *baselines = (row[column][name] for column in COLUMNS)
    if own is None:
        return "–"
    return f"{own:.2f} ({', '.join('–' if number is None else f'{number:.2f}' for number in baselines)})"


def _role(row: Row) -> str:
    if row["own"].get("aer"):
        rates = row["own"]["aer"]
        way = min(rates[HALVES[0]], key=lambda each: rates[HALVES[0]][each])
        own, *baselines = (row[column]["aer"][HALVES[1]][way] for column in COLUMNS)
        return f"{own:.1f} % by {way} ({', '.join(f'{rate:.1f}' for rate in baselines)})"
    if "relation" in row["own"]:
        own, *baselines = (_relation(row[column]["relation"]) for column in COLUMNS)
        return f"{own} ({'; '.join(baselines)})"
    return "–"


def _relation(found: Row | None) -> str:
    if found is None or found["accuracy"] <= found["offset_accuracy"]:
        return "none"
    return f"{found['relation']} {found['accuracy']:.0%}, offset {found['offset_accuracy']:.0%}"


def _lost(row: Row) -> list[str]:
    if row["silenced"] is None:
        return ["–", "–"]
    return [
        f"{1000 * each['delta']:+.1f}{'*' if each['low'] > 0 or each['high'] < 0 else ''}"
        for each in row["silenced"].values()
    ]


def layers_table(report: Report) -> str:
    """What it costs to silence all heads of one attention, with intervals, and how it aligns as a whole."""
    rows = [["all heads of", "by 0", "by mean", "AER, all heads together"], ["---"] * 4]
    rows += [[f"{row['kind']} {row['layer']}", *_intervals(row), _role(row)] for row in report.layers]
    return "\n".join([*map(_line, rows), ""])


def _intervals(row: Row) -> list[str]:
    if row["silenced"] is None:
        return ["–", "–"]
    return [f"{lost['delta']:+.3f} ({lost['low']:+.3f} to {lost['high']:+.3f})" for lost in row["silenced"].values()]


def _corpus(report: Report) -> str:
    files = report.content["corpus"].items()
    said = [f"{name}: {each['used']} of {each['read']} in {each['file']}" for name, each in files]
    return f"Measured on {'; '.join(said)}."


def findings_table(reports: Sequence[Report], names: Sequence[str]) -> str:
    """What holds: a line for each finding, a column for each report; a dash where it was not measured."""
    lines = [["finding", "holds if", *names], ["---"] * (2 + len(names))]
    for finding in reports[0].findings:
        cells = [_said(report, finding["name"]) for report in reports]
        lines.append([f"{finding['claim']} ({finding['source']})", finding["criterion"], *cells])
    return "\n".join(map(_line, lines))


def _said(report: Report, name: str) -> str:
    for finding in report.findings:
        if finding["name"] == name:
            return f"**{'holds' if finding['holds'] else 'does not hold'}**: {finding['said']}"
    return "–"
