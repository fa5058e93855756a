"""Pictures of positions: every number is the formula's, under the position and frequency that it is of."""

import math

import numpy as np
import pytest

from model.positions import Sizes, encoding
from model.trace import Trace
from viz import orders
from viz import positions as drawn
from viz.payload import unpack
from viz.theme import LIGHT

LENGTH, WIDTH, FREQUENCY = 19, 26, 4


def test_the_heatmap_is_the_encoding_with_its_frequency_marked() -> None:
    header, arrays = unpack(drawn.heatmap(LENGTH, WIDTH, FREQUENCY, theme=LIGHT))
    np.testing.assert_array_equal(arrays["values"], encoding(LENGTH, WIDTH).astype(np.float32))
    assert header["rows"] == [str(pos) for pos in range(LENGTH)]
    assert header["columns"][header["pinned"][1]] == f"sin {FREQUENCY}"


def test_waves_are_columns_of_the_heatmap() -> None:
    lines = drawn.waves(LENGTH, WIDTH, FREQUENCY)
    assert [line.name for line in lines[-2:]] == [f"cos {FREQUENCY}", f"sin {FREQUENCY}"]
    for line in lines:
        wave, n = line.name.split()
        angles = np.arange(LENGTH) / 10000 ** (2 * (int(n) - 1) / WIDTH)
        np.testing.assert_allclose(line.y, getattr(np, wave)(angles), atol=1e-12)
    assert len({line.name for line in lines}) == len(lines)


@pytest.mark.parametrize("width", [2, 4, 6, 512])
def test_every_width_has_waves_to_show(width: int) -> None:
    for frequency in (1, width // 2):
        unpack(drawn.waves_picture(drawn.waves(5, width, frequency), theme=LIGHT))
        assert f"Frequency {frequency} of {width // 2}" in drawn.waves_said(width, frequency)
        assert f"{2 * math.pi:.2f}" in drawn.waves_said(width, frequency)


def test_the_small_table_is_the_formula() -> None:
    made = drawn.small()
    assert made.shape == (4, 4)
    assert made["sin pos/100"][3] == pytest.approx(math.sin(0.03))
    assert made["cos pos"][2] == pytest.approx(math.cos(2))


def test_similarity_is_the_cosine_of_two_rows_and_the_line_is_its_diagonals() -> None:
    _, arrays = unpack(drawn.similarity(LENGTH, WIDTH, theme=LIGHT))
    encoded = encoding(LENGTH, WIDTH)
    unit = encoded / np.linalg.norm(encoded, axis=1, keepdims=True)
    np.testing.assert_allclose(arrays["values"], unit @ unit.T, atol=1e-6)
    own, other = drawn.by_distance(LENGTH, WIDTH, 8)
    np.testing.assert_allclose(own.y, arrays["values"][0], atol=1e-6)
    assert other.y[0] == pytest.approx(1.0)
    assert len(drawn.by_distance(LENGTH, WIDTH, WIDTH)) == 1


@pytest.mark.parametrize(("pos", "first"), [(0, 0), (5, 0), (40, 34)])
def test_the_circle_joins_each_position_to_the_one_a_step_further_on(pos: int, first: int) -> None:
    shift = 3
    header, arrays = unpack(drawn.circle(WIDTH, FREQUENCY, shift, pos, theme=LIGHT))
    encoded = encoding(80, WIDTH)[:, 2 * FREQUENCY - 2 : 2 * FREQUENCY]
    n = len(header["points"]) // 2
    np.testing.assert_allclose(arrays["points"][:n], encoded[first : first + n], atol=1e-6)
    np.testing.assert_allclose(arrays["points"][n:], encoded[first + shift : first + shift + n], atol=1e-6)
    assert [point["label"] for point in header["points"][:n]] == [str(p) for p in range(first, first + n)]
    (here, there) = [point for point in header["points"] if point["number"] == header["marked"]]
    assert (here["label"], there["label"]) == (str(pos), str(pos + shift))


def test_the_rotation_table_does_what_its_columns_say() -> None:
    made = drawn.rotation(WIDTH, FREQUENCY, 3, 5).T
    assert str(FREQUENCY) in made.index
    for row in made.reset_index(names="frequency").to_dict("records"):
        matrix = np.array([[row["M₁₁ cos kω"], row["M₁₂ sin kω"]], [row["M₂₁ −sin kω"], row["M₂₂ cos kω"]]])
        found = matrix @ [row["sin at 5"], row["cos at 5"]]
        np.testing.assert_allclose(found, [row["sin turned by M"], row["cos turned by M"]], atol=1e-12)
        np.testing.assert_allclose(found, [row["sin at 8"], row["cos at 8"]], atol=1e-12)
        assert row["sin at 5"] == pytest.approx(math.sin(5 / 10000 ** (2 * (int(row["frequency"]) - 1) / WIDTH)))


def test_sizes_are_drawn_under_their_tokens_and_said(trace: Trace) -> None:
    n = len(trace.source)
    found = Sizes(np.arange(n) + 1.5, np.arange(n) + 2.5, np.arange(n) + 3.5, np.linspace(-1, 1, n))
    lines = drawn.sizes(found, trace.source, "encoder")
    header, arrays = unpack(drawn.sizes_picture(lines, trace.source, theme=LIGHT, position=2))
    for index, expected in enumerate((found.embeddings, found.positions, found.sums)):
        np.testing.assert_array_equal(arrays[f"y{index}"], expected.astype(np.float32))
    assert [text for _, text in header["labels"]] == [token.text for token in trace.source]
    said = drawn.sizes_said(found, 2, trace.source[1], pos=1)
    for number in ("pos 1", "2.50", "3.50", "4.50", "−0."):
        assert number in said


def test_two_orders_are_drawn_token_by_token(trace: Trace) -> None:
    n = len(trace.source)
    lines = orders.lines(np.linspace(0.2, 0.9, n), np.ones(n))
    header, arrays = unpack(orders.picture(lines, trace.source, theme=LIGHT))
    assert [line["name"] for line in header["series"]] == ["without positions", "with positions"]
    np.testing.assert_array_equal(arrays["y0"], np.ones(n))
    assert header["range"] == [0.0, 1.0]
    assert unpack(orders.picture(orders.lines(-np.ones(n), np.ones(n)), trace.source, theme=LIGHT))[0]["range"][0] == -1
    assert "1.5e-06" in orders.said(2.034, 1.5e-6)
    assert "2.03" in orders.said(2.034, 1.5e-6)
