"""What every benchmark has: its options, a table or one JSON object, and bars that are kept or missed."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Bar:
    """What was asked for, and what was measured."""

    name: str
    measured: float
    bar: float
    at_most: bool  # else at least

    @property
    def kept(self) -> bool:
        return self.measured <= self.bar if self.at_most else self.measured >= self.bar

    def sentence(self) -> str:
        sign, said = "≤" if self.at_most else "≥", "kept" if self.kept else "MISSED"
        return f"{self.name}: {self.measured:.2f}, bar {sign} {self.bar:g}: {said}"


def parser(name: str, docstring: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=(docstring or "").splitlines()[0])
    made.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return made


def tell(name: str, rows: Sequence[Row], bars: Sequence[Bar] = (), *, as_json: bool, **more: Any) -> None:
    """Print the rows as a table and the bars under it, or everything as one JSON object."""
    if as_json:
        judged = [{**bar.__dict__, "kept": bar.kept} for bar in bars]
        print(json.dumps({name: [dict(row) for row in rows], "bars": judged, **more}, ensure_ascii=False))
        return
    print("\n".join([*table(rows), *(bar.sentence() for bar in bars), *(f"{key}: {more[key]}" for key in more)]))


def table(rows: Sequence[Row]) -> list[str]:
    """The rows under the names of their values, texts to the left and numbers to the right."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_text(row.get(name, "")) for name in names] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(names, *cells, strict=True)]
    left = [any(isinstance(row.get(name), str) for row in rows) for name in names]
    return [
        "  ".join(
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in [names, *cells]
    ]


def _text(value: Any) -> str:
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int | float) else str(value)
