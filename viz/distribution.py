"""The distribution over the next piece at every step, for canvas/distribution.js, and the same numbers as a table."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from model.distribution import Ordered, Settings, ordered, sampled
from model.trace import Trace
from viz.payload import pack
from viz.theme import Theme, for_canvas

CAPTION = (
    "Above, how undecided each step is, in bits: wide bars the model itself, narrow ones what is sampled from with "
    "these settings; the axis ends where all pieces would be equally likely. Below, the ten likeliest pieces of the "
    "picked step and all others as one bar, the model above, what is sampled from below; framed, what is written. "
    "Temperature acts first, then top-k, then top-p; `<pad>`, `<s>` and `<unk>` are never drawn. The translation "
    "changes with these settings only while sampling decodes."
)
SHOWN = 10  # pieces with a bar of their own; all others share one
TOP_K = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 50, 75, 100, 200, 500, 1000)  # where the slider stops


def payload(trace: Trace, names: Sequence[str], settings: Settings, *, theme: Theme, step: int) -> bytes:
    """Every step's whole distribution, so that the sliders act without the server. step counts from 1.

    The browser gets, likeliest first, how far each log-probability is below the step's largest: see model/distribution.
    """
    found, entropies = ordered(trace), trace.entropy()
    header = {
        "theme": for_canvas(theme),
        "step": step,
        "settings": asdict(settings),
        "stops": sorted({*TOP_K, settings.top_k}),
        "shown": SHOWN,
        "steps": [
            {
                "read": read.text,
                "text": predicted.text,
                "names": [names[i] for i in found.ids[index, :SHOWN]],
                "writes": names[found.ids[index, found.written[index]]],
                "written": int(found.written[index]),
                "never": sorted(int(place) for place in found.never[index]),
                "best": float(found.best[index]),
                "entropy": float(entropies[index]),
            }
            for index, (read, predicted) in enumerate(zip(trace.read, trace.predicted, strict=True))
        ],
    }
    return pack(header, {"gaps": found.gaps})


def table(trace: Trace, names: Sequence[str], settings: Settings, step: int) -> pd.DataFrame:
    """One step (from 1): its likeliest pieces, the written one, and the rest; of the model, and as they are sampled."""
    found = ordered(trace)
    places = rows(found, step - 1)
    ids = found.ids[step - 1, places]
    model, drawn = (
        np.append(all_[ids], all_.sum() - all_[ids].sum())
        for all_ in (
            np.exp(trace.log_probabilities()[step - 1]),
            sampled(trace.log_probabilities()[step - 1 : step], settings)[0],
        )
    )
    rest = f"{len(found.ids[0]) - len(places):,} others"
    return pd.DataFrame(
        {
            "rank": [*(place + 1 for place in places), None],
            "piece": [*(names[i] for i in ids), rest],
            "written": [*(place == found.written[step - 1] for place in places), False],
            "probability": model,
            "sampled with": drawn,
        }
    )


def rows(found: Ordered, index: int) -> list[int]:
    """The places that have a bar of their own: the likeliest, and the written piece if it is not among them."""
    likeliest = list(range(min(SHOWN, found.ids.shape[1])))
    written = int(found.written[index])
    return likeliest if written in likeliest else [*likeliest, written]
