"""Where the boxes of the drawing of the network lead: each to the page about it, with the whole address."""

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.parts import address, doors

TOKENS, POSITIONS, FEED_FORWARD, OUTPUT = (
    f"pages/flow/{name}.py" for name in ("tokens", "positions", "feed_forward", "output")
)


@dataclass(frozen=True)
class Door:
    """A page, and what changes in the address on the way to it."""

    page: str
    title: str
    changes: dict[str, Any] = field(default_factory=dict)


def _heads(kind: str) -> Door:
    anew = dict.fromkeys(("layer", "head", "query", "key"))  # they belong to another kind
    return Door(doors.HEADS, f"{kind} heads", {"kind": kind} | anew)


def _side(page: str, title: str, side: str) -> Door:
    return Door(page, title, {"side": side})


# By the name of a box in viz/network.py.
DOORS = {kind: _heads(kind) for kind in ("encoder", "masked", "cross")}
for _name in ("encoder", "decoder"):
    DOORS |= {f"{_name}_{what}": _side(TOKENS, "Tokens", _name) for what in ("tokens", "embedding")}
    DOORS[f"{_name}_positions"] = _side(POSITIONS, "Positions", _name)
    DOORS[f"{_name}_feed_forward"] = _side(FEED_FORWARD, "Feed-forward", _name)
    DOORS |= {f"{_name}_norm_{number}": _side(doors.LAYERS, "Layers", _name) for number in (1, 2, 3)}
DOORS |= {name: Door(OUTPUT, "Output") for name in ("linear", "softmax", "written")}


def leading() -> dict[str, str]:
    """The boxes whose page is there, with its title."""
    return {name: door.title for name, door in DOORS.items() if doors.is_there(door.page)}


def enter(name: str) -> None:
    """From a callback: go where this box leads."""
    door = DOORS[name]
    doors.take(door.page, **door.changes)


def links() -> None:
    """The same doors as ordinary links, each page once; and the page on which two attentions stand side by side."""
    with st.container(horizontal=True):
        there = leading()
        for title, door in {DOORS[name].title: DOORS[name] for name in there}.items():
            st.page_link(door.page, label=f"{title} →", query_params=address.link(**door.changes))
        st.page_link(doors.MASKED_VS_CROSS, label="Masked vs cross →", query_params=address.link())
