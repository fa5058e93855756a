"""What a head does over a corpus, as numbers to plot, and the names that published thresholds give it. No torch.

Everything is read off the rows of a report (model/report.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.findings import ALIGNED, CONFIDENT, POSITIONAL, SYNTACTIC
from model.report import HALVES

Row = dict[str, Any]  # of a report: kind, layer, head, own, shuffled, untrained, silenced
Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class Statistic:
    """One number of a head."""

    label: str  # on an axis
    meaning: str
    value: Callable[[Row, str], float | None]  # of a row, in one of its columns; None where the head has none
    ends: Ends = (0.0, 1.0)  # of the axis; None: where the heads end
    threshold: float | None = None  # beyond which a head has a name


def _habit(name: str) -> Callable[[Row, str], float | None]:
    def value(row: Row, column: str) -> float | None:
        found = row[column].get(name)
        return None if found is None else float(found)

    return value


def relation(row: Row, column: str) -> float | None:
    """How much more often an encoder head is right about its best dependency than the best fixed offset."""
    best = row[column].get("relation")
    return None if not best else float(best["accuracy"] - best["offset_accuracy"])


def aer(row: Row, column: str) -> float | None:
    """Alignment error rate of a cross head in percent: the way of reading it is chosen on one half of the gold."""
    rates = row[column].get("aer")
    return None if not rates else float(rates[HALVES[1]][best_way(row)])


def best_way(row: Row) -> str:
    """The way of reading a cross head that has the lowest error rate on the first half."""
    rates: dict[str, float] = row["own"]["aer"][HALVES[0]]
    return min(rates, key=lambda way: rates[way])


def _silenced(by: str) -> Callable[[Row, str], float | None]:
    def value(row: Row, column: str) -> float | None:
        lost = row.get("silenced")
        return None if column != "own" or not lost else float(lost[by]["delta"])

    return value


STATISTICS = {
    "entropy": Statistic(
        "entropy / uniform",
        "how evenly its rows look: 1 everywhere alike, 0 at one token",
        _habit("entropy_of_uniform"),
    ),
    "confidence": Statistic(
        "confidence", "the largest weight of a row, special tokens left out", _habit("confidence"), threshold=CONFIDENT
    ),
    "distance": Statistic("distance, pieces", "how far it looks, weighted", _habit("distance"), (0.0, None)),
    "previous": Statistic(
        "on the previous token",
        "share of rows that look most at the token before",
        _habit("previous"),
        threshold=POSITIONAL,
    ),
    "same": Statistic("on the same token", "share of rows that look most at their own token", _habit("same")),
    "next": Statistic(
        "on the next token", "share of rows that look most at the token after", _habit("next"), threshold=POSITIONAL
    ),
    "special": Statistic("on <s> and </s>", "share of all weight on special tokens", _habit("special")),
    "marks": Statistic("on punctuation", "share of all weight on punctuation", _habit("marks")),
    "relation": Statistic(
        "dependency above best offset",
        "how much more often it is right about a dependency than a fixed offset",
        relation,
        (None, None),
        SYNTACTIC,
    ),
    "aer": Statistic("AER, %", "alignment error rate, read in the best of four ways", aer, (0.0, 100.0), ALIGNED),
    "silenced": Statistic(
        "Δ ln P per token, silenced", "what translations lose when its output is 0", _silenced("zero"), (None, None)
    ),
    "held": Statistic(
        "Δ ln P per token, at its mean",
        "what translations lose when its output is its mean",
        _silenced("mean"),
        (None, None),
    ),
}


@dataclass(frozen=True)
class Rule:
    """When a head gets a name."""

    name: str
    criterion: str
    source: str
    said: Callable[[Row, str], str | None]  # of a row, in one of its columns: what of it, or None


def _positional(row: Row, column: str) -> str | None:
    shares = {name: row[column].get(name) or 0.0 for name in ("previous", "next")}
    best = max(shares, key=lambda name: shares[name])
    sure = shares[best] >= POSITIONAL and (row[column].get("confidence") or 0.0) > CONFIDENT
    return f"{best} token" if sure else None


def _syntactic(row: Row, column: str) -> str | None:
    gain = relation(row, column)
    return str(row[column]["relation"]["relation"]) if gain is not None and gain >= SYNTACTIC else None


def _aligning(row: Row, column: str) -> str | None:
    rate = aer(row, column)
    return f"by {best_way(row)}" if rate is not None and rate <= ALIGNED else None


RULES = (
    Rule(
        "positional",
        f"at least {POSITIONAL:.0%} of its largest weights on the token before or after; confidence above {CONFIDENT}",
        "Voita et al. 2019, 5.1, for encoders; here for masked heads, too",
        _positional,
    ),
    Rule(
        "syntactic",
        f"right about a dependency {100 * SYNTACTIC:.0f} points more often than the best fixed offset",
        "Voita et al. 2019, 5.2",
        _syntactic,
    ),
    Rule(
        "alignment",
        f"at most {ALIGNED:.0f} % AER, read in the way that is best on other sentences",
        "no threshold is published; this project's own bar",
        _aligning,
    ),
)
NOT_COUNTED = (
    "rare-word heads (Voita et al. 2019, 5.3): the report does not count how rare the words are that a head looks at"
)


def roles(row: Row, column: str = "own") -> dict[str, str]:
    """The names that a head gets, and what of it."""
    found = {rule.name: rule.said(row, column) for rule in RULES}
    return {name: said for name, said in found.items() if said is not None}
