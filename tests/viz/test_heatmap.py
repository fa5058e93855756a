"""The Plotly twin of a head: a row and a column for each token, the fixed scale, and sentences under the pointer."""

from dataclasses import replace
from itertools import chain

import numpy as np
import plotly.graph_objects as go
import pytest

from model.trace import KINDS, AttentionMap, Token, Trace
from model.words import by_words
from viz import phrases
from viz.heatmap import MOST_LABELS, heatmap, sentence
from viz.theme import DARK, LIGHT, Theme, ramp


def named(*texts: str) -> tuple[Token, ...]:
    return tuple(Token(text, text) for text in texts)


def a_map(rows: tuple[Token, ...], columns: tuple[Token, ...], kind: str = "encoder") -> AttentionMap:
    weights = np.full((len(rows), len(columns)), 1 / len(columns), dtype=np.float32)
    allowed = np.ones(weights.shape, dtype=bool)
    return AttentionMap(kind, 2, 5, weights, weights, allowed, rows, columns, None if kind == "encoder" else rows)


def drawn(shown: AttentionMap, *, linear: bool = False) -> go.Heatmap:
    return heatmap(shown, theme=LIGHT, linear=linear).data[0]


def test_equal_tokens_keep_a_row_and_a_column_each() -> None:
    rows, columns = named("the", "cat", "the", "the"), named("the", "cat", "the", "cat", "the")
    figure = heatmap(a_map(rows, columns), theme=LIGHT)
    assert figure.data[0].z.shape == (4, 5)
    assert figure.data[0].x is None  # so that they are whole numbers
    assert figure.data[0].y is None
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2, 3, 4]
    assert list(figure.layout.xaxis.ticktext) == ["the", "cat", "the", "cat", "the"]
    assert list(figure.layout.yaxis.tickvals) == [0, 1, 2, 3]
    assert list(figure.layout.yaxis.ticktext) == ["the", "cat", "the", "the"]


def test_the_first_row_is_on_top() -> None:
    figure = heatmap(a_map(named("a", "b"), named("x", "y", "z")), theme=LIGHT)
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.side == "top"
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("looked at", "looks")


@pytest.mark.parametrize("kind", KINDS)
def test_colour_is_the_square_root_of_the_weight_on_a_fixed_scale(trace: Trace, kind: str) -> None:
    shown = trace.map(kind, 2, 3)
    found = drawn(shown)
    assert (found.zmin, found.zmax) == (0, 1)
    assert found.z.dtype == np.float32
    np.testing.assert_allclose(found.z[shown.allowed] ** 2, shown.weights[shown.allowed], atol=1e-6)
    np.testing.assert_array_equal(np.isnan(found.z), ~shown.allowed)
    np.testing.assert_array_equal(drawn(shown, linear=True).z[shown.allowed], shown.weights[shown.allowed])


@pytest.mark.parametrize(("linear", "spaced"), [(False, 0.5), (True, 1)])
def test_the_colour_bar_says_weights_where_their_colours_are(trace: Trace, linear: bool, spaced: float) -> None:
    bar = drawn(trace.map("cross", 1, 1), linear=linear).colorbar
    assert (bar.ticktext[0], bar.ticktext[-1]) == ("0", "1")
    np.testing.assert_allclose([float(text) ** spaced for text in bar.ticktext], bar.tickvals)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_colours_are_those_of_the_canvas(trace: Trace, theme: Theme) -> None:
    figure = heatmap(trace.map("cross", 1, 1), theme=theme)
    scale = figure.data[0].colorscale
    assert [shade for _, shade in scale] == ramp(theme, "cross")
    np.testing.assert_allclose([at for at, _ in scale], np.linspace(0, 1, len(scale)))
    assert (figure.layout.paper_bgcolor, figure.layout.plot_bgcolor) == (theme.background, theme.forbidden)
    assert figure.layout.font.color == theme.ink


@pytest.mark.parametrize("kind", KINDS)
def test_each_cell_says_its_sentence(trace: Trace, kind: str) -> None:
    shown = trace.map(kind, 2, 4)
    said = drawn(shown).text
    assert len(said) == len(shown.rows)
    for row, line in enumerate(said):
        assert len(line) == len(shown.columns)
        for column, text in enumerate(line):
            plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            assert plain == sentence(shown, row, column)
            assert shown.columns[column].text in plain


def test_the_sentences_are_those_of_the_design() -> None:
    it, animal = named("it", "animal")
    weights = np.array([[0.38, 0.62]], dtype=np.float32)
    allowed = np.array([[True, True]])
    encoder = AttentionMap("encoder", 2, 5, weights, weights, allowed, (it,), (it, animal))
    assert sentence(encoder, 0, 1) == "‘it’ looks at ‘animal’: 0.62 (encoder, layer 2, head 5)"
    decoder = replace(encoder, kind="masked", predicts=named("überquerte"), allowed=np.array([[True, False]]))
    assert sentence(decoder, 0, 0) == (
        "having read ‘it’, about to write ‘überquerte’, it looks back at ‘it’: 0.38 (masked, layer 2, head 5)"
    )
    forbidden = "‘it’ may not look at ‘animal’: the mask sets this score to −∞, so its weight is exactly 0"
    assert sentence(decoder, 0, 1) == forbidden


def test_markup_in_a_token_is_shown_and_does_not_act() -> None:
    nasty = "</b><img src=x onerror=alert(1)>&lt;"
    figure = heatmap(a_map(named(nasty, "b"), named("x", nasty, "z")), theme=LIGHT)
    for text in (*figure.layout.xaxis.ticktext, *figure.layout.yaxis.ticktext, *chain(*figure.data[0].text)):
        assert "<" not in text
        assert ">" not in text
    assert figure.layout.yaxis.ticktext[0] == "&lt;/b&gt;&lt;img src=x onerror=alert(1)&gt;&amp;lt;"


def test_a_template_in_a_token_is_only_text() -> None:
    """Plotly fills %{…} in the template, and str.format fills {…} in the sentence: neither in what they put there."""
    shown = a_map(named("{weight} %{z} {0}", "b"), named("x", "y", "z"))
    assert drawn(shown).text[0][1].startswith("‘{weight} %{z} {0}’ looks at ‘y’: 0.33")
    assert drawn(shown).hovertemplate == "%{text}<extra></extra>"


@pytest.mark.parametrize(("count", "every"), [(40, 1), (41, 2), (80, 2), (81, 3), (257, 7)])
def test_long_sentences_show_every_so_manyth_label(count: int, every: int) -> None:
    tokens = named(*(f"t{index}" for index in range(count)))
    figure = heatmap(a_map(tokens[:3], tokens), theme=LIGHT)
    assert list(figure.layout.xaxis.tickvals) == list(range(0, count, every))
    assert list(figure.layout.xaxis.ticktext) == [f"t{index}" for index in range(0, count, every)]
    assert len(figure.layout.xaxis.tickvals) <= MOST_LABELS
    assert len(figure.layout.yaxis.tickvals) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_decoder_rows_say_what_they_read_and_what_they_predict(trace: Trace, kind: str) -> None:
    shown = by_words(trace.map(kind, 2, 1))
    labels = list(heatmap(shown, theme=LIGHT).layout.yaxis.ticktext)
    assert len(labels) == len(shown.rows)
    assert all(("→" in label) == (kind != "encoder") for label in labels)


@pytest.mark.parametrize("kind", KINDS)
def test_the_title_says_which_head(trace: Trace, kind: str) -> None:
    assert heatmap(trace.map(kind, 1, 4), theme=LIGHT).layout.title.text == f"{phrases.kind(kind)}, layer 1, head 4"


def test_the_same_head_gives_the_same_figure(trace: Trace) -> None:
    first, second = (heatmap(trace.map("masked", 1, 4), theme=DARK).to_json() for _ in range(2))
    assert first == second
