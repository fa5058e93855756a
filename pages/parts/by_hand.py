"""Alignments made by hand: pairs of our own to look at, and how well ways of reading do on them and on others'."""

from typing import TYPE_CHECKING

import streamlit as st

from model.alignment import Links, Reading, aer, diagonal, one_each
from pages.parts import controls, known, shipped
from viz.alignment import Aligned
from viz.error_rates import Gold, Rates

if TYPE_CHECKING:
    from model.report import Report

PAIR = "gold_pair"  # key of the widget; the address has the sentence and its translation


def choose(shown: Aligned) -> None:
    """One of our pairs, to take the place of the sentence and its translation."""
    from model.gold import rejoin

    gold = shipped.everyday_gold()
    words = shown.source, shown.target
    number = next((number for number, pair in enumerate(gold) if (pair.source, pair.target) == words), None)
    if st.session_state.get(PAIR) != number:
        st.session_state[PAIR] = number
    st.selectbox(
        "A pair aligned by hand",
        range(len(gold)),
        format_func=lambda number: f"{number + 1} {rejoin(gold[number].source)[0]}",
        key=PAIR,
        index=None,
        placeholder="one of ours",
        on_change=_take,
        width=320,
    )


def _take() -> None:
    from model.gold import rejoin

    number = st.session_state[PAIR]
    if number is None:
        controls.take(st.session_state["sentence"], "")
    else:
        pair = shipped.everyday_gold()[number]
        controls.take(rejoin(pair.source)[0], rejoin(pair.target)[0])


def this_pair(shown: Aligned) -> float | None:
    """The error rate of the links on screen, in percent; None if nobody has aligned this pair."""
    if shown.sure is None:
        return None
    return percent([(shown.links, shown.sure, shown.possible)])


def percent(pairs: list[tuple[Links, Links, Links]]) -> float:
    """Alignment error rate over pairs: found, sure and possible links of each."""
    counts = [aer(found, sure, possible) for found, sure, possible in pairs]
    return 100.0 * (1.0 - sum(agreed for agreed, _ in counts) / sum(links for _, links in counts))


def corpora() -> list[Gold]:
    """Pairs of our own, and those of the report beside the weights if it is there."""
    own = shipped.everyday_rates()
    found = [Gold(f"{len(shipped.everyday_gold())} everyday pairs of our own", own, own)]
    report = known.report()
    return found if isinstance(report, str) else found + _reported(report)


def not_known() -> str:
    """Why the report is not there, in a sentence; empty if it is."""
    report = known.report()
    return f"What heads score on others' alignments is not known here: {report}." if isinstance(report, str) else ""


def limits() -> str:
    """Between which scores a way of reading can be on our own pairs."""
    sides = [(len(pair.source), len(pair.target), pair.sure, pair.possible) for pair in shipped.everyday_gold()]
    blind = percent([(diagonal(S, T), sure, possible) for S, T, sure, possible in sides])
    best = percent([(one_each(T, sure, possible), sure, possible) for _, T, sure, possible in sides])
    return (
        f"On our own pairs, linking each German word to the English word at the same share of the sentence scores "
        f"{blind:.0f} %. One link for each German word, as they are read here, cannot score below {best:.0f} %."
    )


def _reported(report: "Report") -> list[Gold]:
    """Rates on the half of the gold that played no part in the choice of the best reading."""
    if "gold" not in report.content["corpus"]:
        return []
    first, last = (_rates(report, half) for half in ("first", "last"))
    name = report.content["corpus"]["gold"]["file"]
    return [Gold(f"{name}, last half", last, first)]


def _rates(report: "Report", half: str) -> Rates:
    rates = {}
    for row in (*report.heads, *report.layers):
        for way, rate in row["own"].get("aer", {}).get(half, {}).items():
            by, rows = way.split(", rows ")
            rates[Reading(row["layer"], row["head"], by, rows)] = rate
    return rates
