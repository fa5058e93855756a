"""Which published findings about attention heads hold for a model: each with its criterion and its numbers. No torch.

Michel et al. 2019: Are Sixteen Heads Really Better than One? Voita et al. 2019: Analyzing Multi-Head Self-Attention.
Kobayashi et al. 2020: Attention is Not Only a Weight.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from model.report import COLUMNS, HALVES

POSITIONAL = 0.9  # share of a head's largest weights at one place beside itself (Voita et al. 2019, 5.1)
CONFIDENT = 0.8  # mean largest weight of every positional head there
SYNTACTIC = 0.1  # above the best fixed offset (Voita et al. 2019, 5.2)
ALIGNED = 42.0  # percent AER; this project's own bar
SMALL = 0.01  # nats per token: a loss that hardly anyone would notice

CHOICE, REPORT = HALVES
BY, ROWS = ("weight", "norm"), ("read", "predicted")

Content = dict[str, Any]  # of a report
Row = dict[str, Any]  # of its heads or layers


@dataclass(frozen=True)
class Finding:
    """A claim, when it counts as true, and what was found."""

    name: str
    claim: str
    source: str
    criterion: str
    holds: bool
    said: str  # the numbers, for people
    numbers: dict[str, Any]


def findings(content: Content) -> list[dict[str, Any]]:
    """All findings that the report has the numbers for."""
    asked: dict[str, tuple[Callable[[Content], Finding], ...]] = {
        "pairs": (positional,),
        "trees": (syntactic,),
        "gold": (norm_read, norm_predicted, earlier, aligned),
        "silence": (single_by_zero, single_by_mean, last_cross_by_zero, last_cross_by_mean),
    }
    return [asdict(find(content)) for corpus, finds in asked.items() if corpus in content["corpus"] for find in finds]


def where(row: Row) -> str:
    """A head, or a whole attention, as sentences name it: encoder 2.5, cross 3."""
    return f"{row['kind']} {row['layer']}" + ("" if row["head"] is None else f".{row['head']}")


def _heads(content: Content, kind: str) -> list[Row]:
    return [row for row in content["heads"] if row["kind"] == kind]


def _cross_layers(content: Content) -> list[Row]:
    return [row for row in content["layers"] if row["kind"] == "cross"]


def positional(content: Content) -> Finding:
    """Voita et al. 2019, 5.1: heads that look at the word beside them do so with confidence."""

    def share(row: Row, column: str = "own") -> float:
        return max(row[column][name] or 0.0 for name in ("previous", "next"))

    heads = _heads(content, "encoder")
    found = [row for row in heads if share(row) >= POSITIONAL]
    sure = [row for row in found if row["own"]["confidence"] > CONFIDENT]
    most = {column: max(share(row, column) for row in heads) for column in COLUMNS}
    shown = ", ".join(f"{where(row)} ({share(row):.0%}, {row['own']['confidence']:.2f})" for row in found) or "none"
    return Finding(
        "positional",
        "There are positional encoder heads, and they are confident.",
        "Voita et al. 2019, 5.1",
        f"an encoder head has at least {POSITIONAL:.0%} of its largest weights on the word before, or on the word "
        f"after, and confidence above {CONFIDENT}",
        bool(sure),
        f"{len(found)} positional (share, confidence): {shown}. Largest share of any head {most['own']:.0%}; rows "
        f"shuffled {most['shuffled']:.0%}, untrained {most['untrained']:.0%}.",
        {
            "positional": [[row["layer"], row["head"], share(row), row["own"]["confidence"]] for row in found],
            "largest_share": most,
        },
    )


def syntactic(content: Content) -> Finding:
    """Voita et al. 2019, 5.2: heads that follow a dependency, far better than a fixed offset does."""

    def gain(row: Row, column: str = "own") -> float:
        best = row[column]["relation"]
        return float(best["accuracy"] - best["offset_accuracy"]) if best else -1.0

    heads = _heads(content, "encoder")
    counts = {column: sum(gain(row, column) >= SYNTACTIC for row in heads) for column in COLUMNS}
    best = max(heads, key=gain)
    relation = best["own"]["relation"]
    most = "no relation is frequent enough"
    if relation:
        most = (
            f"most above it is {where(best)}: {relation['relation']} {relation['accuracy']:.0%}, best offset "
            f"{relation['offset_accuracy']:.0%}"
        )
    return Finding(
        "syntactic",
        "There are syntactic encoder heads.",
        "Voita et al. 2019, 5.2",
        f"an encoder head is right about a dependency at least {100 * SYNTACTIC:.0f} points more often than the best "
        "fixed offset, on trees that had no part in the choice of either",
        counts["own"] > 0,
        f"{counts['own']} of {len(heads)} heads (rows shuffled {counts['shuffled']}, untrained {counts['untrained']}); "
        f"{most}.",
        {"heads": counts, "best": [best["layer"], best["head"], relation]},
    )


def _rate(row: Row, half: str, by: str, rows: str, column: str = "own") -> float:
    return float(row[column]["aer"][half][f"{by}, rows {rows}"])


def _best_layer(content: Content, half: str, by: str, rows: str) -> Row:
    return min(_cross_layers(content), key=lambda row: _rate(row, half, by, rows))


def _norm_below_weight(content: Content, rows: str) -> Finding:
    chosen = {by: _best_layer(content, CHOICE, by, rows) for by in BY}
    rates = {by: _rate(row, REPORT, by, rows) for by, row in chosen.items()}
    single = {by: mean(_rate(row, REPORT, by, rows) for row in _heads(content, "cross")) for by in BY}
    against = {column: _rate(chosen["norm"], REPORT, "norm", rows, column) for column in COLUMNS[1:]}
    shown = " and ".join(f"by {by} {rates[by]:.1f} % (layer {chosen[by]['layer']})" for by in BY)
    return Finding(
        f"norm_{rows}",
        f"Norms align better than weights, rows {rows}.",
        "Kobayashi et al. 2020, 5",
        "the best layer, all heads together, has a lower AER by norm than by weight: chosen on the first half of the "
        "gold, compared on the last",
        rates["norm"] < rates["weight"],
        f"{shown}; mean of single heads {single['weight']:.1f} % and {single['norm']:.1f} %; by norm, rows "
        f"shuffled {against['shuffled']:.1f} %, untrained {against['untrained']:.1f} %.",
        {
            "aer": rates,
            "layers": {by: row["layer"] for by, row in chosen.items()},
            "single": single,
            "against": against,
        },
    )


def norm_read(content: Content) -> Finding:
    """Kobayashi et al. 2020, 5, alignment with the decoder's input."""
    return _norm_below_weight(content, "read")


def norm_predicted(content: Content) -> Finding:
    """Kobayashi et al. 2020, 5, alignment with its output."""
    return _norm_below_weight(content, "predicted")


def earlier(content: Content) -> Finding:
    """Kobayashi et al. 2020, 5: earlier layers align the word that is read, later ones that which is predicted."""
    best = {
        f"by {by}, {half} half": [_best_layer(content, half, by, rows)["layer"] for rows in ROWS]
        for by in BY
        for half in HALVES
    }
    return Finding(
        "earlier",
        "Words read are aligned in an earlier layer than words predicted.",
        "Kobayashi et al. 2020, 5",
        "the best layer, all heads together, is earlier for rows read than for rows predicted, by weight and by norm, "
        "on either half of the gold",
        all(read < predicted for read, predicted in best.values()),
        "best layers, read and predicted: " + "; ".join(f"{way} {r} and {p}" for way, (r, p) in best.items()) + ".",
        {"layers": best},
    )


def aligned(content: Content) -> Finding:
    """How good an alignment there is, if one knows where to look."""
    ways = [(row, f"{by}, rows {rows}") for row in _cross(content) for by in BY for rows in ROWS]
    row, way = min(ways, key=lambda each: float(each[0]["own"]["aer"][CHOICE][each[1]]))
    chosen, rate = row["own"]["aer"][CHOICE][way], {column: row[column]["aer"][REPORT][way] for column in COLUMNS}
    return Finding(
        "aligned",
        "Cross-attention aligns words.",
        "a bar of our own",
        f"the reading that is best on the first half of the gold has at most {ALIGNED:.0f} % AER on the last",
        rate["own"] <= ALIGNED,
        f"{where(row)}, by {way}: {rate['own']:.1f} % (on the first half, {chosen:.1f} %); rows shuffled "
        f"{rate['shuffled']:.1f} %, untrained {rate['untrained']:.1f} %.",
        {"layer": row["layer"], "head": row["head"], "reading": way, "chosen": chosen, "aer": rate},
    )


def _cross(content: Content) -> list[Row]:
    return [*_heads(content, "cross"), *_cross_layers(content)]


def _single(content: Content, by: str) -> Finding:
    lost = [row["silenced"][by] for row in content["heads"]]
    harm, gain = sum(each["high"] < 0 for each in lost), sum(each["low"] > 0 for each in lost)
    small, middle = sum(each["delta"] > -SMALL for each in lost), median(each["delta"] for each in lost)
    worst = min(content["heads"], key=lambda row: float(row["silenced"][by]["delta"]))
    most = worst["silenced"][by]
    return Finding(
        f"single_{by}",
        f"Most single heads can be silenced without harm, by {by}.",
        "Michel et al. 2019, 3.2",
        "for more than half of all heads, each silenced alone, the interval of Δ ln P per token is not wholly below 0",
        2 * harm < len(lost),
        f"{harm} of {len(lost)} do significant harm, {gain} significant good; {small} cost less than {SMALL} a token; "
        f"median {middle:+.4f}; worst {where(worst)}, {most['delta']:+.3f} "
        f"({most['low']:+.3f} to {most['high']:+.3f}).",
        {
            "heads": len(lost),
            "harm": harm,
            "gain": gain,
            "small": small,
            "median": middle,
            "worst": [worst["kind"], worst["layer"], worst["head"], most],
        },
    )


def single_by_zero(content: Content) -> Finding:
    """Michel et al. 2019, 3.2."""
    return _single(content, "zero")


def single_by_mean(content: Content) -> Finding:
    """The same, with a gentler way of taking a head out."""
    return _single(content, "mean")


def _last_cross(content: Content, by: str) -> Finding:
    order = sorted(content["layers"], key=lambda row: float(row["silenced"][by]["delta"]))
    last = _cross_layers(content)[-1]
    rest = [row["silenced"][by]["low"] for row in order if row is not last]
    shown = ", ".join(f"{where(row)} {row['silenced'][by]['delta']:+.2f}" for row in order)
    return Finding(
        f"last_cross_{by}",
        f"Cross-attention of the last layer is least dispensable, by {by}.",
        "Michel et al. 2019, 3.3 and 5; Voita et al. 2019, 6.3",
        "with all heads of one attention silenced, the last cross layer costs most: its interval lies below all others",
        last["silenced"][by]["high"] < min(rest),
        f"Δ ln P per token, worst first: {shown}.",
        {"order": [[row["kind"], row["layer"], row["silenced"][by]["delta"]] for row in order]},
    )


def last_cross_by_zero(content: Content) -> Finding:
    """Michel et al. 2019, 5: a decoder needs many heads most of all in its last cross-attention."""
    return _last_cross(content, "zero")


def last_cross_by_mean(content: Content) -> Finding:
    """The same, with a gentler way of taking heads out."""
    return _last_cross(content, "mean")
