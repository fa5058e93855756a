"""How long the server works on each page: after another page, and after a sentence that nobody has typed before.

python -m benchmarks.pages [--json]     seconds a run of the app, without the browser; the shipped model, on one thread
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks import told
from benchmarks.told import Bar, Row

ROOT = Path(__file__).resolve().parents[1]
PAGES = [path for path in sorted(ROOT.glob("pages/*/*.py")) if path.parent.name != "parts"]
SENTENCES = {
    "12 words": "My younger sister will never forget the first time that we {}.",
    "60 pieces": " ".join(["The old man sees a white house in the garden and he {}"] * 4) + ".",
}
VERBS = ("met", "sang", "ran", "fell", "won", "lost", "cried")
REPETITIONS = 5
LARGEST = 1.0  # seconds after another page
AFTER, NEW = "after another page, s", "new sentence, s"


def seconds(app: AppTest) -> float:
    start = time.perf_counter()
    app.run()
    taken = time.perf_counter() - start
    if app.exception or app.error:
        raise RuntimeError(f"the page failed: {[e.value for e in [*app.exception, *app.error]]}")
    return taken


def visit(app: AppTest, page: Path, sentence: str) -> float:
    """Through a link, as from another page."""
    app.query_params.clear()
    app.query_params.update({"sentence": sentence})
    app.switch_page(str(page.relative_to(ROOT)))
    return seconds(app)


def timed(app: AppTest, page: Path, elsewhere: Path, pattern: str) -> dict[str, float]:
    """Median seconds of a visit from another page with the same sentence, and of a new sentence typed there."""
    visits, typed = [], []
    for verb in VERBS[:REPETITIONS]:
        sentence = pattern.replace("{}", f"{verb} {page.stem.replace('_', ' ')}")  # of this page alone: not cached yet
        visit(app, elsewhere, sentence)
        visits.append(visit(app, page, sentence))
        app.text_input(key="sentence").set_value(sentence.replace(verb, f"often {verb}"))
        typed.append(seconds(app))
    return {
        AFTER: round(statistics.median(visits), 3),
        NEW: round(statistics.median(typed), 3),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = told.parser("pages", __doc__).parse_args(arguments)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    seconds(app)
    rows: list[Row] = []
    for size, pattern in SENTENCES.items():
        for page in PAGES:
            elsewhere = next(
                other for other in PAGES if other.stem == ("heads" if page.stem != "heads" else "translate")
            )
            visit(app, page, pattern.replace("{}", "sleeps"))  # what is computed once for all sentences is not counted
            rows.append({"page": page.stem, "sentence": size, **timed(app, page, elsewhere, pattern)})
    slowest = {size: max(row[AFTER] for row in rows if row["sentence"] == size) for size in SENTENCES}
    bars = [Bar(f"slowest {AFTER}, {size}", slowest[size], LARGEST, at_most=True) for size in SENTENCES]
    told.tell("pages", rows, bars, as_json=options.json)


if __name__ == "__main__":
    main()
