"""From Enter to all heads painted, against an empty rerun of the same app and the model's own time.

python -m benchmarks.enter [--json]     milliseconds in a real Chromium, 30 sentences that the app has not seen before
"""

import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from playwright.sync_api import Page

from benchmarks import texts, told
from benchmarks.clock import percentile
from benchmarks.screen import browsing, new_page
from benchmarks.told import Bar, Row
from model import checkpoint
from model.capture import prepare, trace_of, translate_ids
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from tests.browser import bar
from tests.browser.serving import serving
from tests.browser.visits import wait_until_idle

COUNT, WARM = 30, 3
LARGEST = 1.5  # times an empty rerun and the model's own time

# A canvas stands in the shadow root of its component.
GRID = """const grid = () => [...document.querySelectorAll('*')].flatMap((one) =>
  one.shadowRoot ? [...one.shadowRoot.querySelectorAll('canvas[data-marker=grid]')] : [])[0];"""
# The clock starts with the key and stops two frames after the new picture is there: then it has been painted.
BEGIN = f"""() => {{
  {GRID}
  grid().dataset.old = "yes";
  window.began = null;
  document.addEventListener("keydown", () => {{ window.began = performance.now(); }}, {{ capture: true, once: true }});
}}"""
PAINTED = f"""() => new Promise((done) => {{
  {GRID}
  const drawn = () => {{ const now = grid(); return now && !now.dataset.old && now.height > 200; }};
  const end = () => done(performance.now() - window.began);
  const look = () => requestAnimationFrame(drawn() ? () => requestAnimationFrame(end) : look);
  look();
}})"""
# Streamlit reruns the script when somebody presses R, unless it has not quite come to rest: then once more.
RERUN = """() => new Promise((done) => {
  const app = document.querySelector('[data-testid=stApp]');
  const key = { key: "r", code: "KeyR", keyCode: 82, bubbles: true };
  const press = () => {
    window.began = performance.now();
    for (const type of ["keydown", "keyup"]) document.body.dispatchEvent(new KeyboardEvent(type, key));
  };
  const again = setInterval(press, 3000);
  const watcher = new MutationObserver(() => {
    clearInterval(again);
    if (app.dataset.testScriptState !== "notRunning") return;
    watcher.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - window.began)));
  });
  watcher.observe(app, { attributeFilter: ["data-test-script-state"] });
  document.activeElement?.blur();
  press();
})"""


def entered(page: Page, sentence: str) -> float:
    """Milliseconds from Enter to the painted heads of a new sentence."""
    bar.sentence(page).fill(sentence)
    page.evaluate(BEGIN)
    bar.sentence(page).press("Enter")
    taken = float(page.evaluate(PAINTED))
    wait_until_idle(page)
    return taken


def rerun(page: Page) -> float:
    """Milliseconds of a run of the app in which nothing has changed."""
    taken = float(page.evaluate(RERUN))
    wait_until_idle(page)
    return taken


def model_time(model: Transformer, tokenizer: Tokenizer, sentence: str) -> float:
    """Milliseconds to translate the sentence and to capture everything."""
    start = time.perf_counter()
    source = prepare(tokenizer, sentence)
    trace_of(model, tokenizer, source.ids, translate_ids(model, source).ids)
    return 1000 * (time.perf_counter() - start)


def measured(page: Page, sentences: Sequence[str]) -> list[dict[str, float]]:
    model, tokenizer = checkpoint.load()
    found = []
    for sentence in sentences:
        one = {"enter": entered(page, sentence), "rerun": rerun(page), "model": model_time(model, tokenizer, sentence)}
        found.append(one | {"ratio": one["enter"] / (one["rerun"] + one["model"])})
    return found[WARM:]


def rows(found: Sequence[dict[str, float]]) -> list[Row]:
    said = {"enter": "Enter to painted, ms", "rerun": "empty rerun, ms", "model": "model alone, ms", "ratio": "ratio"}
    return [
        {"measured": said[name], "p50": round(percentile(values, 0.5), 2), "p95": round(percentile(values, 0.95), 2)}
        for name in said
        if (values := [one[name] for one in found])
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    options = told.parser("enter", __doc__).parse_args(arguments)
    torch.set_num_threads(1)
    sentences = list(itertools.islice(texts.sentences(), COUNT + WARM))
    with (
        tempfile.TemporaryDirectory() as name,
        serving(Path(name)) as server,
        browsing() as browser,
        new_page(browser) as page,
    ):
        page.goto(f"{server.url}/heads")
        page.wait_for_selector("canvas[data-marker=grid]")
        wait_until_idle(page)
        found = measured(page, sentences)
    table = rows(found)
    judged = [Bar("p50 of the ratio", table[-1]["p50"], LARGEST, at_most=True)]
    told.tell("enter", table, judged, as_json=options.json, sentences=len(found))


if __name__ == "__main__":
    main()
