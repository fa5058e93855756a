"""Pictures of neurons: each cell, bar and line is the neuron it says, and tokens stand in their own sentences."""

import numpy as np
import pytest

from model.neurons import Place, Recorded, added, firing, hidden, strongest, weights
from model.trace import Token, Trace
from model.transformer import Transformer
from viz import neurons as drawn
from viz.inside import signed
from viz.payload import texts, unpack
from viz.theme import LIGHT


def of_trace(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    before, after = (hidden(trace, "decoder", 2, what)[3] for what in ("hidden", "active"))
    return before, after


def test_the_square_has_a_cell_for_each_neuron_row_after_row(trace: Trace) -> None:
    before, after = of_trace(trace)
    header, arrays = unpack(drawn.square(before, after, theme=LIGHT, activation="relu", neuron=17))
    assert arrays["values"].shape == (6, 7)  # 37 neurons
    np.testing.assert_array_equal(arrays["values"].ravel()[:37], after)
    assert arrays["allowed"].ravel().tolist() == [1] * 37 + [0] * 5
    assert header["rows"] == ["1–7", "8–14", "15–21", "22–28", "29–35", "36–37"]
    assert header["pinned"] == [2, 2]
    for number in range(1, 38):
        x, y = before[number - 1], after[number - 1]
        end = f"{signed(float(y))} after it" if y > 0 else "0, silent, after it"
        assert header["names"][number - 1] == f"neuron {number}: {signed(float(x))} before ReLU, {end}"
        row, column = divmod(number - 1, 7)
        assert drawn.pinned(row + 1, column + 1, 37) == number
    assert drawn.pinned(6, 3, 37) is None


@pytest.mark.parametrize(("count", "across"), [(1024, 32), (37, 7), (1, 1), (2048, 46)])
def test_the_square_is_as_wide_as_high(count: int, across: int) -> None:
    assert drawn.width(count) == across


def test_gelu_s_values_below_0_are_drawn_on_both_sides() -> None:
    header, _ = unpack(
        drawn.square(np.array([-1.0, 2]), np.array([-0.16, 1.95]), theme=LIGHT, activation="gelu", neuron=1)
    )
    assert header["hue"] == "signed"
    assert header["names"][0] == "neuron 1: −1.000 before GELU, −0.160 after it"


def test_shares_and_activations_stand_under_their_tokens(trace: Trace) -> None:
    shares = firing(trace, "decoder")
    header, arrays = unpack(drawn.sparsity(shares, trace.read, theme=LIGHT, position=4, layer=2))
    np.testing.assert_array_equal(arrays["values"], shares.T.astype(np.float32))
    assert (header["rows"], header["columns"]) == (texts(trace.read), ["layer 1", "layer 2"])
    assert header["pinned"] == [3, 1]
    np.testing.assert_array_equal(drawn.share_table(shares, trace.read).to_numpy(), shares.T)
    values = hidden(trace, "decoder", 2, "active")[:, 8]
    header, arrays = unpack(drawn.along(values, trace.read, theme=LIGHT, neuron=9, position=2))
    np.testing.assert_array_equal(arrays["y0"], values)
    assert header["labels"] == [[n, token.text] for n, token in enumerate(trace.read, start=1)]


def test_how_many_fire_is_counted(trace: Trace) -> None:
    before, after = of_trace(trace)
    fire = sum(x > 0 for x in before)
    assert drawn.of_position(after, "so") == f"At ‘so’ {fire} of 37 neurons fire ({100 * fire / 37:.0f} %)."


def test_every_neuron_is_in_one_bin_of_the_histogram(trace: Trace) -> None:
    before, _ = of_trace(trace)
    beyond = np.append(before, [-99.0, 99.0])
    _, arrays = unpack(drawn.histogram(beyond, theme=LIGHT))
    assert arrays["y0"].sum() == 39
    for middle, count in zip(arrays["x0"], arrays["y0"], strict=True):
        inside = sum(middle - 0.25 <= x < middle + 0.25 for x in beyond.clip(-6, 5.999))
        assert count == inside


def test_the_functions_are_drawn_and_the_neuron_s_place_on_them(trace: Trace) -> None:
    header, arrays = unpack(drawn.functions(theme=LIGHT, before=-1.25, neuron=9))
    np.testing.assert_allclose(arrays["y0"], np.maximum(arrays["x0"], 0), atol=1e-6)
    assert header["notes"] == [[-1.25, "neuron 9: −1.250"]]
    assert unpack(drawn.functions(theme=LIGHT, before=40.0, neuron=9))[0]["notes"] == [[6.0, "neuron 9: 40.00"]]


def test_the_table_of_the_strongest_has_their_own_numbers(model: Transformer, trace: Trace) -> None:
    before, after = of_trace(trace)
    found = weights(model, "decoder", 2)
    numbers = strongest(after, found, 5)
    table = drawn.strongest(numbers, before, after, found)
    assert table["neuron"].tolist() == numbers
    for line, number in zip(table.to_dict("records"), numbers, strict=True):
        assert line["before"] == before[number - 1]
        assert line["after"] == after[number - 1]
        assert line["length of what it adds"] == added(after, found)[number - 1]


def test_a_token_stands_in_brackets_in_its_own_sentence() -> None:
    def token(text: str, *, special: bool = False) -> Token:
        return Token(text, text.strip("·"), text.startswith("·"), special)

    first = (
        token("The"),
        token("rab"),
        token("·bits"),
        token("␣"),
        token("7"),
        token("."),
        token("</s>", special=True),
    )
    second = (token("<s>", special=True), token("Du"), token(","), token("du"))
    found = Recorded((first, second), {1: np.zeros((11, 3))})
    told = drawn.driving([(Place(0, 2), 3.5), (Place(1, 3), 2.0), (Place(0, 6), 1.0), (Place(1, 0), 0.5)], found)
    assert told["in"].tolist() == ["The rab[bits] 7.", "Du, [du]", "The rabbits 7. [</s>]", "[<s>] Du, du"]
    assert told["token"].tolist() == ["·bits", "du", "</s>", "<s>"]
    assert told["activation"].tolist() == [3.5, 2.0, 1.0, 0.5]


def test_what_is_spelt_in_bytes_is_read_as_its_word() -> None:
    naive = [Token(text, "naïve", text != "na") for text in ("na", "0xC3", "0xAF", "·ve")]
    sentence = (Token("mine", "mine"), Token("0x3B", ";"), Token("the", "the"), *naive, Token("0x3F", "?"))
    assert drawn.in_context(sentence, 1) == "mine[;] the naïve?"
    assert drawn.in_context(sentence, 0) == "[mine]; the naïve?"
    assert drawn.in_context(sentence, 5) == "mine; the [naïve]?"


def test_pushed_pieces_have_their_own_push() -> None:
    push, here = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    told = drawn.pushed([2, 0], ["a", "b", "c"], push, here)
    assert told.to_numpy().tolist() == [["c", 0.3, 3.0], ["a", 0.1, 1.0]]
    assert list(drawn.pushed([2], ["a", "b", "c"], push, None).columns) == ["piece", "push"]
