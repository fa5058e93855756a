"""Throw arbitrary texts and addresses at the pages: each must end in a view or a sentence, never in a traceback.

python -m tests.pages.fuzz --inputs 2000 [--seed 1]     what failed, one line each; status 1 if anything did

The model is the shipped one. Tests throw a few at a tiny one.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamlit.testing.v1 import AppTest

from pages.parts.address import FIELDS
from tests.pages.visitor import PAGES, PATIENCE, ROOT, Visitor

WORDS = "the The animal dog didn't cross 25 3,5 because tired. house, Street! it's I you not never".split()
STRANGE = (
    *("\0", "\u2028", "\u2029", "\u200b", "\u202e", "\ufeff", "\x07", "\x1b[31m", "\x85", "\ud800", "\udfff", "\r\n"),
    *(
        "e\u0301\u0323",
        "\u0301",
        "👩\u200d👩\u200d👧🏽",
        "🇩🇪",
        "مرحبا",
        "שלום",
        "日本語",
        "ﬁ",
        "ﷺ",
        "\u2581",
        "𝔘",
        "\u00a0",
    ),
    *(
        "<s>",
        "</s>",
        "<pad>",
        "<0x41>",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "&lt;",
        "**b**",
        "$x^2$",
        "`",
        "[a](b)",
    ),
    *("{0}", "%s", "%{z}", "${x}", "\\", "'", '"', ":smile:", "a" * 400, "house " * 90, "?" * 300),
)
VALUES = (
    *(
        "",
        "0",
        "1",
        "2",
        "3",
        "5",
        "8",
        "9",
        "-1",
        "1.5",
        "1e9",
        "nan",
        "inf",
        "-0",
        "²",
        "٣",
        "0x1",
        "99999999999",
        "True",
        "None",
    ),
    *(
        "mean",
        "cross",
        "encoder",
        "masked",
        "words",
        "beam",
        "sample",
        "lifted",
        "padded",
        "matrix",
        "table",
        "plotly",
        "all",
    ),
)
EDITS = (
    *(
        "silence-encoder-1.1",
        "mean-cross-2.3",
        "uniform-masked-1.2",
        "cell-cross-2.1-4.2-0.25",
        "lift_mask",
        "only-cross-1.1-1",
    ),
    *(
        "positions",
        "scale",
        "silence-encoder-99.1",
        "cell-masked-1.1-1.9-0.5",
        "cell-encoder-1.1-300.1-1",
        "skip-encoder-1.1",
    ),
    *("silence", "-", "cell-cross-1.1-1.1-nan", "mean-mean-1.1", "residual-encoder-1", "no_positions", "no-positions"),
)
KEYS = tuple(name for name in FIELDS if name not in ("sentence", "beam"))


@dataclass(frozen=True)
class Input:
    """What somebody might do: open a page with this address, then perhaps type this."""

    page: str
    address: dict[str, str]
    typed: tuple[str, str] | None  # the key of a text field, and what is typed there


def text(rng: random.Random) -> str:
    """Words, what is no word, and characters from anywhere; as UTF-8, since that is what a browser sends."""
    parts = []
    for _ in range(rng.choice((0, 1, 1, 2, 4, 8, 16, 40))):
        kind = rng.random()
        if kind < 0.6:
            parts.append(rng.choice(WORDS))
        elif kind < 0.85:
            parts.append(rng.choice(STRANGE))
        else:
            parts.append("".join(chr(rng.randrange(rng.choice((0x80, 0x800, 0x10000, 0x110000)))) for _ in range(3)))
    return rng.choice((" ", " ", "")).join(parts).encode("utf-8", "replace").decode("utf-8")


def value(rng: random.Random, name: str) -> str:
    """For a name of the address: often something that fits it, or that fits another name."""
    if name in ("sentence", "target", "other"):
        return text(rng)
    if name == "edits" and rng.random() < 0.8:
        return ",".join(rng.choice(EDITS) for _ in range(rng.choice((1, 1, 2, 3, 120))))
    return rng.choice(VALUES) if rng.random() < 0.85 else text(rng)


def inputs(count: int, *, seed: int) -> Iterator[Input]:
    """Every page as often as every other."""
    rng, pages = random.Random(seed), list(PAGES)
    for number in range(count):
        names = rng.sample(KEYS, rng.choice((0, 1, 2, 4, 8)))
        address = {name: value(rng, name) for name in names}
        if rng.random() < 0.5:
            address["sentence"] = text(rng)
        typed = (rng.choice(("sentence", "target")), text(rng)) if rng.random() < 0.5 else None
        yield Input(pages[number % len(pages)], address, typed)


def failure(visitor: Visitor, given: Input) -> str:
    """What is wrong with what the pages make of it; nothing, if it is a view or a sentence."""
    try:
        visitor.follow(given.page, **given.address)
        said = wrong(visitor)
        if not said and given.typed:
            key, typed = given.typed
            visitor.type(typed, key=key)
            said = wrong(visitor)
    except Exception as error:  # an input that breaks the app's run is what is looked for
        return f"{type(error).__name__}: {error}"
    return said


def wrong(visitor: Visitor) -> str:
    if visitor.app.exception:
        return str(visitor.app.exception[0].value)
    for said in visitor.errors:
        if not (said[:1].isupper() and said.endswith(".") and "Traceback" not in said and "\n" not in said):
            return f"this is no sentence: {said!r}"
    shown = visitor.canvases() or visitor.app.get("plotly_chart") or visitor.app.dataframe or visitor.app.text
    return "" if shown or visitor.errors else "an empty page"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pages.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    failures, slowest, began = 0, 0.0, time.monotonic()
    for number, given in enumerate(inputs(options.inputs, seed=options.seed), start=1):
        start = time.monotonic()
        if said := failure(visitor, given):
            failures += 1
            print(f"{number} {given!r}: {said[:300]!r}", flush=True)
            visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
        if time.monotonic() - start > slowest:
            slowest = time.monotonic() - start
            print(f"slowest so far: {number}, {slowest:.1f} s, {given.page} {list(given.address)}", file=sys.stderr)
        if number % 100 == 0:
            print(
                f"{number} inputs, {failures} failures, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True
            )
    print(f"{options.inputs} inputs, {failures} failures, {time.monotonic() - began:.0f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
