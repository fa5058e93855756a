"""How long it takes to silence every head in turn for one sentence, all in one batch, with the shipped model.

python -m benchmarks.heads_in_turn [--json]     seconds, median of some repetitions, by 0 and by the mean
"""

import statistics
import time
from collections.abc import Sequence

import torch

from benchmarks import told
from benchmarks.told import Bar, Row
from model import checkpoint
from model.capture import prepare, trace_of, translate_ids
from model.edits import Edit
from model.importance import all_heads, each_alone, one_after_the_other
from model.transformer import Transformer
from model.what_if import log_probabilities, means_of

SENTENCES = {
    12: "My younger sister will never forget the first time that we met.",
    40: " ".join(["The old man sees a white house in the garden and he reads"] * 3) + " a good book.",
}
REPETITIONS = 7
LARGEST, JUDGED = 1.0, 12  # seconds, for a sentence of so many words


def timed(model: Transformer, source: Sequence[int], target: Sequence[int], lists: Sequence[Sequence[Edit]]) -> float:
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        log_probabilities(model, source, target, lists, means=means_of(model, source, target))
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    options = told.parser("heads_in_turn", __doc__).parse_args(arguments)
    torch.set_num_threads(1)  # as in the app
    model, tokenizer = checkpoint.load()
    rows: list[Row] = []
    for words, sentence in SENTENCES.items():
        source = prepare(tokenizer, sentence)
        target = translate_ids(model, source).ids
        heads = all_heads(trace_of(model, tokenizer, source.ids, target))
        sizes = {"words": words, "source pieces": len(source.ids), "target pieces": len(target)}
        for by in ("zero", "mean"):
            for joint in (False, True):
                lists = (one_after_the_other if joint else each_alone)(heads, by)
                seconds = round(timed(model, source.ids, target, lists), 3)
                asked = "one after the other" if joint else "each alone"
                rows.append(sizes | {"heads": len(heads), "by": by, "asked": asked, "seconds": seconds})
    slowest = max(row["seconds"] for row in rows if row["words"] == JUDGED)
    bars = [Bar(f"slowest, {JUDGED} words", slowest, LARGEST, at_most=True)]
    told.tell("heads_in_turn", rows, bars, as_json=options.json, threads=torch.get_num_threads())


if __name__ == "__main__":
    main()
