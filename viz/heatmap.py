"""One head as a Plotly heatmap."""

import numpy as np
import plotly.graph_objects as go

from model.trace import AttentionMap
from viz import phrases
from viz.captions import of_rows
from viz.theme import TICKS, Theme, ramp

MOST_LABELS = 40


def heatmap(shown: AttentionMap, *, theme: Theme, linear: bool = False) -> go.Figure:
    """Rows look, columns are looked at; colour from 0 to 1, square-root spaced unless `linear`; forbidden cells empty.

    The axes are whole numbers with token labels, since equal tokens must not share a row.
    """
    spaced = shown.weights if linear else shown.weights**0.5
    drawn = np.where(shown.allowed, spaced, np.nan).astype(np.float32)
    ticks = (0, 0.25, 0.5, 0.75, 1) if linear else TICKS
    shades = ramp(theme, shown.kind)
    trace = go.Heatmap(
        z=drawn,
        text=hover(shown),
        hovertemplate="%{text}<extra></extra>",
        zmin=0,
        zmax=1,
        colorscale=[[index / (len(shades) - 1), shade] for index, shade in enumerate(shades)],
        colorbar={
            "tickvals": [t if linear else t**0.5 for t in ticks],
            "ticktext": [str(t) for t in ticks],
            "thickness": 12,
        },
        xgap=1,
        ygap=1,
    )
    figure = go.Figure(trace)
    figure.update_layout(
        title={
            "text": f"{phrases.kind(shown.kind)}, layer {shown.layer}, {phrases.head(shown.head, shown.measure)}",
            "x": 0,
            "y": 0.98,
        },
        xaxis=_axis([_plain(t.text) for t in shown.columns])
        | {"side": "top", "tickangle": -50, "title": {"text": "looked at", "standoff": 4}},
        yaxis=_axis([_plain(label) for label in of_rows(shown)])
        | {"autorange": "reversed", "title": {"text": "looks", "standoff": 4}},
        paper_bgcolor=theme.background,
        plot_bgcolor=theme.forbidden,
        font={"color": theme.ink, "family": '"Source Sans", sans-serif', "size": 13},
        margin={"l": 8, "r": 8, "t": 150, "b": 8},
        height=max(420, min(900, 220 + 26 * len(shown.rows))),
    )
    return figure


def hover(shown: AttentionMap) -> list[list[str]]:
    """The sentence of each cell, ready for Plotly, which reads a little markup: tokens are escaped."""
    return [
        [_plain(sentence(shown, row, column)) for column in range(len(shown.columns))] for row in range(len(shown.rows))
    ]


def sentence(shown: AttentionMap, row: int, column: int) -> str:
    """What one cell says. row and column from 0."""
    template = phrases.BY_MEASURE[shown.measure][shown.kind] if shown.allowed[row, column] else phrases.FORBIDDEN
    return template.format(
        row=shown.rows[row].text,
        column=shown.columns[column].text,
        predicts="" if shown.predicts is None else shown.predicts[row].text,
        weight=phrases.weight(float(shown.weights[row, column])),
        layer=shown.layer,
        head=phrases.head(shown.head, shown.measure),
    )


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _axis(labels: list[str]) -> dict[str, object]:
    every = -(-len(labels) // MOST_LABELS)
    at = list(range(0, len(labels), every))
    return {
        "tickvals": at,
        "ticktext": [labels[i] for i in at],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }
