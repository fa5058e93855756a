"""The switch raw · value-weighted · rollout, which stands wherever maps are shown, and the maps it asks for."""

import streamlit as st

from model import measures
from model.trace import AttentionMap, Trace
from pages.parts import address, axes, controls, shipped
from viz import captions

MEASURES = {"raw": "raw", "value": "value-weighted", "rollout": "rollout"}


def switch() -> None:
    controls.switch("Weights", "measure", MEASURES)


def is_raw() -> bool:
    return bool(st.session_state["measure"] == "raw")


def is_rollout() -> bool:
    """Whether a map belongs to a layer, and to no head."""
    return bool(st.session_state["measure"] == "rollout")


def note() -> str:
    """What the weights on screen are, if they are not the head's own."""
    return captions.MEASURES[st.session_state["measure"]]


def one(trace: Trace, kind: str, layer: int, head: int | None) -> AttentionMap:
    """One head (from 1), or with None all heads of a layer, over pieces."""
    if is_rollout():
        return measures.rolled_out(trace, kind, layer)
    if is_raw():
        return trace.mean(kind, layer) if head is None else trace.map(kind, layer, head)
    return measures.value_weighted(trace, shipped.output_projection(kind, layer), kind, layer, head)


def all_maps(trace: Trace, kind: str) -> list[AttentionMap]:
    """All heads of one kind, layer by layer, with tokens as the switches ask; by rollout one map for each layer."""
    heads = (None,) if is_rollout() else range(1, trace.heads(kind) + 1)
    layers = range(1, trace.layers(kind) + 1)
    return [axes.shaped(one(trace, kind, layer, head)) for layer in layers for head in heads]


def opened(maps: list[AttentionMap]) -> int:
    """The index among all maps of the one that is open: the chosen head, or by rollout the chosen layer."""
    place = st.session_state["layer"], None if is_rollout() else st.session_state["head"]
    return [(shown.layer, shown.head) for shown in maps].index(place)


def open_(kind: str, layer: int, head: int) -> None:
    """A click on a thumbnail; 0 is no head, so that none is chosen."""
    address.choose(layer=layer, **({"head": head} if head else {}))
