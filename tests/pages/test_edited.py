"""An edited run is marked as one on every page, shows what the edits lead to, and can be undone."""

import numpy as np
import pytest

from model.capture import prepare, trace_of, translate_ids
from model.decode import Decoding
from model.editing import Means
from model.editlist import LIMIT, parsed
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from model.what_if import means_of, write_edited
from tests.pages.visitor import PAGES, SENTENCE, Visitor

Loaded = tuple[Transformer, Tokenizer]
EVERY_PAGE = pytest.mark.parametrize("page", PAGES)
TARGET = "Der alte Mann hört zwei Bäume nicht."
EDITS = "mean-encoder-2.4,silence-cross-1.2,cell-cross-2.3-2.3-0.9,no_positions-decoder"
OTHER = "My sister hears the house."  # without a second sentence there is nothing to compare
TOLD = " · ".join(edit.said for edit in parsed(EDITS))
DECODINGS: dict[str, tuple[dict[str, str], Decoding]] = {
    "greedy": ({}, Decoding()),
    "beam": ({"decoder": "beam"}, Decoding("beam", beam=4)),
    "sample": ({"decoder": "sample"}, Decoding("sample")),
}


@pytest.fixture(scope="module")
def source(loaded: Loaded) -> tuple[int, ...]:
    return prepare(loaded[1], SENTENCE).ids


def reference(loaded: Loaded, source: tuple[int, ...], decoding: Decoding = Decoding()) -> Means:
    """The head means of the unedited run."""
    own = translate_ids(loaded[0], prepare(loaded[1], SENTENCE), decoding).ids
    return means_of(loaded[0], source, own)


def edited_trace(loaded: Loaded, source: tuple[int, ...], written: str, target: tuple[int, ...] | None = None) -> Trace:
    """The run under these edits, over the translation written under them or another one."""
    model, tokenizer = loaded
    means = reference(loaded, source) if target is None else means_of(model, source, target)
    ids = target or write_edited(model, source, parsed(written), means=means).ids
    return trace_of(model, tokenizer, source, ids, edits=parsed(written), means=means)


def is_marked(visitor: Visitor) -> bool:
    return any("Edited run" in text.value for text in visitor.app.markdown)


@EVERY_PAGE
def test_every_page_shows_the_translation_written_under_the_edits_and_says_so(
    visitor: Visitor, loaded: Loaded, source: tuple[int, ...], page: str
) -> None:
    trace = edited_trace(loaded, source, EDITS)
    visitor.follow(page, edits=EDITS, other=OTHER)
    assert visitor.translation == (trace.target_text or "(the model ended at once: an empty translation)")
    total = f"{trace.target_log_probabilities().sum():.2f}".replace("-", "−")
    assert visitor.captions[0] == f"the edited model's translation, greedy · log-probability {total}"
    assert is_marked(visitor)
    assert TOLD in [text.value for text in visitor.app.text]
    assert visitor.address["edits"] == EDITS
    visitor.follow(page, other=OTHER)
    assert not is_marked(visitor)
    assert visitor.captions[0].startswith("the model's translation")


@pytest.mark.parametrize(("settings", "decoding"), DECODINGS.values(), ids=DECODINGS)
def test_the_chosen_decoder_writes_under_the_edits(
    visitor: Visitor, loaded: Loaded, source: tuple[int, ...], settings: dict[str, str], decoding: Decoding
) -> None:
    means = reference(loaded, source, decoding)
    found = write_edited(loaded[0], source, parsed(EDITS), decoding=decoding, means=means)
    visitor.follow("heads", edits=EDITS, **settings)
    assert visitor.translation == loaded[1].decode(found.ids)


def test_a_forced_translation_is_read_under_the_edits(
    visitor: Visitor, loaded: Loaded, source: tuple[int, ...]
) -> None:
    trace = edited_trace(loaded, source, EDITS, prepare(loaded[1], TARGET).ids)
    visitor.follow("heads", edits=EDITS, target=TARGET, kind="cross", layer="2", head="3")
    assert visitor.translation == loaded[1].normalise(TARGET)
    assert "the edited model's own" in visitor.captions[0]
    _, arrays = visitor.canvas("head")
    assert arrays["weights"].tobytes() == trace.map("cross", 2, 3).weights.astype(np.float32).tobytes()


@pytest.mark.parametrize("kind", ["encoder", "masked", "cross"])
def test_maps_are_those_of_the_edited_run(visitor: Visitor, loaded: Loaded, source: tuple[int, ...], kind: str) -> None:
    written = f"{EDITS},uniform-{kind}-2.3"
    trace = edited_trace(loaded, source, written)
    visitor.follow("heads", edits=written, kind=kind, layer="2", head="3")
    _, arrays = visitor.canvas("head")
    assert arrays["weights"].tobytes() == trace.map(kind, 2, 3).weights.astype(np.float32).tobytes()
    assert arrays["weights"].tobytes() != edited_trace(loaded, source, EDITS).map(kind, 2, 3).weights.tobytes()


def test_lifting_the_mask_on_its_page_comes_on_top_of_the_edits(
    visitor: Visitor, loaded: Loaded, source: tuple[int, ...]
) -> None:
    model, tokenizer = loaded
    means = reference(loaded, source)
    ids = write_edited(model, source, parsed(EDITS), means=means).ids
    both = trace_of(model, tokenizer, source, ids, edits=parsed(f"{EDITS},lift_mask"), means=means)
    visitor.follow("masked_vs_cross", edits=EDITS, mask="lifted", layer="2", head="5", cross_layer="2", cross_head="3")
    _, arrays = visitor.canvas("pair")
    for kind, head in (("masked", 5), ("cross", 3)):
        assert arrays[f"{kind}_weights"].tobytes() == both.map(kind, 2, head).weights.astype(np.float32).tobytes()


def test_under_a_lifted_mask_the_translation_is_greedy_and_said_to_be(visitor: Visitor, loaded: Loaded) -> None:
    visitor.follow("heads", edits="lift_mask", decoder="beam")
    assert visitor.captions[0].startswith("the edited model's translation, greedy, as the mask is lifted")
    found = write_edited(loaded[0], prepare(loaded[1], SENTENCE).ids, parsed("lift_mask"))
    assert visitor.translation == loaded[1].decode(found.ids)


@pytest.mark.parametrize("canvas", ["lens", "beams"])
def test_what_else_is_computed_of_a_sentence_is_computed_under_the_edits(visitor: Visitor, canvas: str) -> None:
    shown = []
    for edits in ({}, {"edits": EDITS}, {}):
        visitor.follow("output", decoder="beam", target=TARGET, **edits)
        shown.append([c.proto.bytes for c in visitor.app.get("bidi_component") if canvas in c.proto.component_name])
    assert shown[0] == shown[2] != shown[1]


def test_edits_stay_on_the_way_through_the_menu(visitor: Visitor) -> None:
    visitor.follow("surgery", edits=EDITS)
    visitor.menu("heads")
    assert is_marked(visitor)
    assert visitor.address["edits"] == EDITS


def test_each_edit_can_be_undone_and_all_of_them(visitor: Visitor) -> None:
    visitor.follow("heads", edits=EDITS)
    visitor.app.button(key="undo silence-cross-1.2").click().run()
    assert visitor.address["edits"] == "mean-encoder-2.4,cell-cross-2.3-2.3-0.9,no_positions-decoder"
    visitor.app.button(key="undo_all").click().run()
    assert "edits" not in visitor.address
    assert not is_marked(visitor)


def test_what_the_model_has_no_place_for_is_said_and_the_rest_carried_out(
    visitor: Visitor, loaded: Loaded, source: tuple[int, ...]
) -> None:
    visitor.follow("heads", edits="silence-encoder-9.1,silence-cross-1.2,cell-masked-1.2-3.4-0.5")
    assert visitor.address["edits"] == "silence-cross-1.2"
    assert visitor.translation == edited_trace(loaded, source, "silence-cross-1.2").target_text
    first, second = visitor.notes
    assert first == "silence-encoder-9.1 has no place in this model: its encoder has layers 1 to 3."
    assert second.startswith("cell-masked-1.2-3.4-0.5 cannot be done: row 3 of masked attention")


@pytest.mark.parametrize("written", ["remove-encoder-1.2", "silence-encoder-0.0", "<b>", "cell-encoder-1.1-1.1-7"])
def test_what_cannot_be_read_is_said_and_nothing_is_edited(visitor: Visitor, written: str) -> None:
    visitor.follow("heads", edits=written)
    assert "edits" not in visitor.address
    assert not is_marked(visitor)
    (note,) = visitor.notes
    assert note.startswith("The address says edits=")


def test_too_many_edits_are_refused_with_the_limit(visitor: Visitor) -> None:
    visitor.follow("heads", edits=",".join(f"skip-cross-{n}" for n in range(1, LIMIT + 2)))
    assert any(f"at most {LIMIT} are carried out at once" in note for note in visitor.notes)


def test_an_edit_of_a_row_that_the_sentence_does_not_have_is_said(visitor: Visitor) -> None:
    visitor.follow("heads", edits="cell-encoder-1.1-99.1-0.5")
    (note,) = visitor.notes
    assert note.startswith("cell-encoder-1.1-99.1-0.5 changes nothing: here encoder attention has rows 1 to ")


def test_inside_a_head_that_is_edited_says_what_its_arithmetic_leaves_out(visitor: Visitor) -> None:
    visitor.follow("inside_a_head", edits="uniform-cross-2.3", kind="cross", layer="2", head="3")
    said = [text.value for text in visitor.app.text]
    assert any(text.startswith("✂ cross 2.3 made uniform: the arithmetic below") for text in said)
    visitor.follow("inside_a_head", edits="uniform-cross-2.3", kind="cross", layer="2", head="2")
    assert not any(text.value.startswith("✂") for text in visitor.app.text)


def test_two_visitors_with_unlike_edits_do_not_mix(visitor: Visitor, loaded: Loaded, source: tuple[int, ...]) -> None:
    for written in ("silence-cross-1.2", "only-cross-1.2", "silence-cross-1.2"):
        visitor.follow("heads", edits=written)
        assert visitor.translation == edited_trace(loaded, source, written).target_text
