"""A report of 144 heads over 32 tokens is small, asks for nothing, and no token breaks out of it."""

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from model.alignment import Link
from model.capture import trace_of
from model.config import ModelConfig
from model.tokenizer import Tokenizer
from model.trace import KINDS, Candidate, Token, Trace
from model.transformer import Transformer
from viz import offline
from viz.payload import unpack

MOST_BYTES = 1_500_000
TOKENS = 32  # on both sides, specials included
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "</style></title><img src=x onerror=alert(1)>",
    "\u2028\u2029",
    "\"'`${alert(1)}",
    "{policy}",
    "\ud800",
    "https://example.org/x.js",
)


class Outline(HTMLParser):
    """What a browser makes of the file: its elements with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def hostile(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same tokens, saying other things."""
    return tuple(
        replace(token, text=HOSTILE[n % len(HOSTILE)], word=HOSTILE[n % len(HOSTILE)]) for n, token in enumerate(tokens)
    )


def large(build: Callable[..., Transformer], tokenizer: Tokenizer) -> Trace:
    """A run of a narrow model of 6 + 6 layers with 8 heads, over 32 + 32 tokens."""
    config = ModelConfig(len(tokenizer), d_model=24, n_heads=8, d_ff=26, encoder_layers=6, decoder_layers=6)
    ids = list(range(40, 40 + TOKENS - 1))
    found = trace_of(build(config), tokenizer, ids, ids[::-1])
    assert sum(found.layers(kind) * found.heads(kind) for kind in KINDS) == 144
    assert (len(found.source), len(found.read)) == (TOKENS, TOKENS)
    return found


def written(trace: Trace, told: str) -> str:
    """Its report."""
    links = [Link(n, n, 0.5) for n in range(9)]
    considered = [[Candidate(f"{HOSTILE[n]} {step}", 0.1, n == 0) for n in range(5)] for step in range(len(trace.read))]
    return offline.page(trace, links, considered, opened=("cross", 6, 8), told=told)


@pytest.fixture(scope="module")
def trace(build: Callable[..., Transformer], tokenizer: Tokenizer) -> Trace:
    return large(build, tokenizer)


@pytest.fixture(scope="module")
def attacked(trace: Trace) -> Trace:
    """The same run, and every text in it wants to break out."""
    sides = {name: hostile(getattr(trace, name)) for name in ("source", "read", "predicted")}
    return replace(trace, source_text=" ".join(HOSTILE), target_text=HOSTILE[0], **sides)


def test_a_report_of_144_heads_is_small(trace: Trace) -> None:
    assert len(written(trace, trace.target_text).encode("utf-8")) <= MOST_BYTES


def test_every_weight_is_in_it_to_the_digit(trace: Trace) -> None:
    (packed,) = re.findall(r'id="payload">([^<]*)<', written(trace, "it"))
    header, arrays = unpack(base64.b64decode(packed))
    for kind in KINDS:
        np.testing.assert_array_equal(arrays[kind], trace.weights(kind).astype(np.float32))
        np.testing.assert_array_equal(arrays[f"{kind}_allowed"], trace.map(kind, 1, 1).allowed)
    assert header["opened"] == {"kind": "cross", "layer": 6, "head": 8}


def test_no_text_breaks_out_and_nothing_is_loaded(trace: Trace, attacked: Trace) -> None:
    plain, found = (
        Outline(page).found
        for page in (written(trace, "it"), written(attacked, " ".join(HOSTILE)).encode("utf-8", "replace").decode())
    )
    assert found == plain
    assert [tag for tag, _ in found if tag in ("script", "style", "img", "link", "iframe", "object", "base")] == [
        "style",
        "script",
        "script",
    ]
    assert not [name for _, attributes in found for name in attributes if name in ("src", "href", "onerror", "onload")]
    (policy,) = [a["content"] for _, a in found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'unsafe-inline'")


def test_lone_surrogates_do_not_keep_it_from_being_written(attacked: Trace) -> None:
    assert offline.page(attacked, [], [[] for _ in attacked.read], opened=("encoder", 1, 1), told="it")
