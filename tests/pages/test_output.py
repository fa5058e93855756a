"""The page Output: what its canvases carry is what the model computes, and its settings are those of the sidebar."""

import numpy as np
import pytest

from model.capture import capture, prepare, translate_ids
from model.decode import Decoding
from model.lens import lens, read_out
from model.loss import losses
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from model.words import least_sure
from tests.pages.visitor import SENTENCE, Visitor
from viz import distribution
from viz.inside import signed

Loaded = tuple[Transformer, Tokenizer]
SETTINGS = {"temperature": "1.7", "top_k": "9", "top_p": "0.95", "seed": "5"}


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def test_the_distribution_is_that_of_the_translation(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("output", **SETTINGS)
    header, arrays = visitor.canvas("distribution")
    expected = -np.sort(-trace.log_probabilities(), axis=1)
    np.testing.assert_array_equal(arrays["gaps"], (expected[:, :1] - expected).astype(np.float32))
    assert header["settings"] == {"temperature": 1.7, "top_k": 9, "top_p": 0.95}
    assert header["step"] == least_sure(trace, words=False)
    assert [step["text"] for step in header["steps"]] == [token.text for token in trace.predicted]


def test_a_step_in_the_address_is_the_step_of_every_picture(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("output", step="2", layer="1")
    assert {visitor.canvas(name)[0]["step"] for name in ("distribution", "lens", "loss", "beams")} == {2}
    assert visitor.canvas("lens")[0]["layer"] == 1
    visitor.choose("step", 3)
    visitor.choose("layer", 2)
    assert visitor.address == {"sentence": SENTENCE, "layer": "2", "step": "3"}
    assert visitor.canvas("loss")[0]["step"] == 3


def test_the_lens_and_the_losses_are_those_of_the_trace(visitor: Visitor, loaded: Loaded, trace: Trace) -> None:
    visitor.follow("output")
    found = lens(trace, read_out(loaded[0]))
    _, arrays = visitor.canvas("lens")
    np.testing.assert_allclose(arrays["probability"], found.probability, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(arrays["hit"][-1], trace.logits.argmax(axis=1) == [t.id for t in trace.predicted])
    visitor.follow("output", smoothing="0.3")
    header, _ = visitor.canvas("loss")
    assert header["smoothing"] == 0.3
    mixed = [0.7 * step["surprise"] + 0.3 * step["spread"] for step in header["steps"]]
    np.testing.assert_allclose(mixed, losses(trace).at(0.3))


@pytest.mark.parametrize("decoder", ["greedy", "sample", "beam"])
def test_the_page_s_widgets_and_the_sidebar_s_hold_the_same_values(visitor: Visitor, decoder: str) -> None:
    visitor.follow("output", **({} if decoder == "greedy" else {"decoder": decoder}))
    for key, value in (("temperature", 1.7), ("top_k", 9), ("top_p", 0.95), ("seed", 5), ("beam", 3)):
        visitor.choose(f"{key}_here", value)
        assert not visitor.app.exception
    assert visitor.address.items() >= (SETTINGS | {"beam": "3"}).items()
    assert visitor.canvas("distribution")[0]["settings"] == {"temperature": 1.7, "top_k": 9, "top_p": 0.95}
    assert visitor.canvas("beams")[0]["width"] == 3
    for method, key, value in (("sample", "temperature", 0.4), ("beam", "beam", 2)):
        visitor.choose("decoder", method)  # a widget appears in the sidebar, with the value that the page has set
        assert visitor.address.items() >= (SETTINGS | {"beam": "3"}).items()
        visitor.choose(key, value)
        assert visitor.state(f"{key}_here") == value
        visitor.choose(f"{key}_here", {"temperature": 1.7, "beam": 3}[key])
        assert visitor.address.items() >= (SETTINGS | {"beam": "3"}).items()


def test_settings_change_the_translation_only_while_sampling_decodes(visitor: Visitor, loaded: Loaded) -> None:
    model, tokenizer = loaded
    source = prepare(tokenizer, SENTENCE)
    visitor.follow("output", **SETTINGS)
    assert visitor.translation == tokenizer.decode(translate_ids(model, source).ids)
    drawn = Decoding("sample", temperature=1.7, top_k=9, top_p=0.95, seed=5)
    visitor.follow("output", decoder="sample", **SETTINGS)
    assert visitor.translation == tokenizer.decode(translate_ids(model, source, drawn).ids)


def test_three_decoders_stand_side_by_side_and_one_of_them_is_forced(visitor: Visitor, loaded: Loaded) -> None:
    model, tokenizer = loaded
    source = prepare(tokenizer, SENTENCE)
    visitor.follow("output", step="2", **SETTINGS)
    methods = [
        Decoding(),
        Decoding("beam"),
        Decoding("sample", temperature=1.7, top_k=9, top_p=0.95, seed=5),
    ]
    found = [translate_ids(model, source, decoding) for decoding in methods]
    shown = [text.value for text in visitor.app.text]
    for one in found:
        assert tokenizer.decode(one.ids) in shown
        said = f"log-probability {signed(one.log_probability)} · {len(one.log_probabilities)} pieces"
        assert [caption for caption in visitor.captions if caption.startswith(said)]
    visitor.app.button(key="force_beam").click().run()
    assert visitor.address == {"sentence": SENTENCE, "decoder": "beam"} | SETTINGS
    assert visitor.translation == tokenizer.decode(found[1].ids)
    assert visitor.app.button(key="force_beam").disabled


def test_forcing_a_decoder_s_translation_lets_go_of_the_reader_s_own(visitor: Visitor) -> None:
    visitor.follow("output", target="Der alte Mann hört nichts.")
    assert not any(visitor.app.button(key=f"force_{method}").disabled for method in ("greedy", "beam", "sample"))
    assert [caption for caption in visitor.captions if caption.startswith("Forced now is your own translation")]
    visitor.app.button(key="force_greedy").click().run()
    assert visitor.address == {"sentence": SENTENCE}


def test_the_best_of_the_tree_is_the_beam_s_translation(visitor: Visitor, loaded: Loaded) -> None:
    model, tokenizer = loaded
    for width in (1, 3):
        visitor.follow("output", beam=str(width))
        header, _ = visitor.canvas("beams")
        best = translate_ids(model, prepare(tokenizer, SENTENCE), Decoding("beam", beam=width))
        way = [node for step in header["steps"] for node in step if node["best"]]
        assert len(way) == len(best.log_probabilities)
        assert way[-1]["figure"] == f"= {signed(best.score(Decoding().length_penalty))}"
        assert {len(step) for step in header["steps"]} == {2 * width}


def test_every_picture_has_a_table_as_its_twin(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("output", step="2")
    for key in ("as_table", "lens_table", "loss_table", "beam_table"):
        visitor.choose(key, True)
    tables = [frame.value for frame in visitor.app.dataframe]
    assert len(tables) == 4
    own = float(np.exp(trace.target_log_probabilities()[1]))
    assert tables[0].loc[tables[0]["written"], "probability"].item() == pytest.approx(own)
    assert len(tables[0]) >= distribution.SHOWN + 1


def test_a_door_leads_from_a_step_to_the_two_attentions_at_it(visitor: Visitor) -> None:
    visitor.follow("output", step="2", units="words")
    (link,) = [one.proto for one in visitor.app.get("page_link") if one.proto.label.endswith("Masked vs cross →")]
    assert "step=2" in link.query_string
    assert "units" not in link.query_string


@pytest.mark.parametrize("edits", ["", "silence-cross-2.3"])
def test_under_edits_it_is_said_that_the_model_is_the_edited_one(visitor: Visitor, edits: str) -> None:
    visitor.follow("output", edits=edits)
    assert any("is the edited model" in text.value for text in visitor.app.text) == bool(edits)
    links = [one.proto.query_string for one in visitor.app.get("page_link") if "as trained" in one.proto.label]
    assert ["against=edits" in link for link in links] == [True] * bool(edits)


@pytest.mark.parametrize(("decoder", "key", "value"), [("sample", "temperature", 0.4), ("beam", "beam", 2)])
def test_a_setting_lets_go_of_the_step_only_where_it_decodes(
    visitor: Visitor, decoder: str, key: str, value: float
) -> None:
    visitor.follow("output", step="2")
    visitor.choose(f"{key}_here", value)
    assert visitor.address == {"sentence": SENTENCE, "step": "2", key: str(value)}
    visitor.follow("output", step="2", decoder=decoder)
    visitor.choose(f"{key}_here", value)
    assert visitor.address == {"sentence": SENTENCE, "decoder": decoder, key: str(value)}
