"""The address is the state: read, kept, proposed, let go of, and written, without any page."""

from collections.abc import Collection, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.errors import StreamlitAPIException

from pages.parts import address, measured
from pages.parts.address import FIELDS, FIRST_SENTENCE, LONGEST_TEXT, ON_EVERY_PAGE

# For each field a value that is not its default, as text and as what the widget holds.
OTHER: dict[str, tuple[str, Any]] = {
    "sentence": ("The cat sees = & ? # % + ü 🐴", "The cat sees = & ? # % + ü 🐴"),
    "target": ("Die Katze", "Die Katze"),
    "decoder": ("sample", "sample"),
    "beam": ("7", 7),
    "temperature": ("0.7", 0.7),
    "top_k": ("12", 12),
    "top_p": ("0.9", 0.9),
    "seed": ("5", 5),
    "kind": ("cross", "cross"),
    "layer": ("2", 2),
    "head": ("3", 3),
    "cross_layer": ("2", 2),
    "cross_head": ("4", 4),
    "step": ("2", 2),
    "query": ("3", 3),
    "key": ("2", 2),
    "units": ("words", "words"),
    "special": ("renormalised", "renormalised"),
    "heads": ("mean", "mean"),
    "stage": ("moved", "moved"),
    "mask": ("lifted", "lifted"),
    "padding": ("padded", "padded"),
    "view": ("table", "table"),
    "scale": ("linear", "linear"),
    "rank": ("order", "order"),
}
KNOWN = [name for name in FIELDS if name in OTHER]
WHOLE = ("", "0", "-1", "1.5", "two", "1e3", "99999999999", "１", "٣", " 2", "NaN", "None")
CHOICES = ("greedy", "encoder", "pieces", "shown", "one", "softmax", "on", "none", "matrix", "√", "weight")
CHOICE = ("", "nothing", "Greedy", "0", "None")
BAD = {
    **dict.fromkeys([name for name in KNOWN if FIELDS[name].default in CHOICES], CHOICE),
    **dict.fromkeys([name for name in KNOWN if FIELDS[name].default is None], WHOLE),
    "beam": [*WHOLE, "11"],
    "seed": ["", "-1", "1.5", "two", "1000000"],
    "top_k": ["", "-1", "1.5", "two", "1001"],
    "temperature": ["", "0", "-1", "0.05", "3.1", "hot", "nan", "inf", "1e999"],
    "top_p": ["", "0", "-1", "0.01", "1.1", "all", "nan", "-inf"],
}
EVERY_BAD = [(name, text) for name, bad in BAD.items() for text in bad]


class Parameters(dict[str, str]):
    """What st.query_params is in a browser."""

    def __init__(self) -> None:
        self.told: list[dict[str, str]] = []  # what the browser was sent

    def from_dict(self, values: dict[str, str]) -> None:
        self.clear()
        self.update(values)
        self.told.append(values)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A session without Streamlit: its state, and the address bar."""
    made = SimpleNamespace(session_state={}, query_params=Parameters(), is_history_navigation=False)
    monkeypatch.setattr(address, "st", made)
    monkeypatch.setattr(address, "get_script_run_ctx", lambda: made)
    return made


def opened(session: SimpleNamespace, page: str = "heads", **values: str) -> None:
    session.query_params.clear()
    session.query_params.update(values)
    address.read(page)


def navigated(session: SimpleNamespace, page: str = "heads", **values: str) -> None:
    """By Back or Forward."""
    session.is_history_navigation = True
    opened(session, page, **values)
    session.is_history_navigation = False


def watched(session: SimpleNamespace, *, drawn: Collection[str] = ()) -> list[str]:
    """From here on, the fields that are assigned; those of widgets that were drawn cannot be."""
    assigned: list[str] = []

    class Watched(dict[str, Any]):
        def __setitem__(self, name: str, value: Any) -> None:
            if name in drawn:
                raise StreamlitAPIException("cannot be modified after the widget is instantiated")
            assigned.extend([name] if name in FIELDS else [])
            super().__setitem__(name, value)

    session.session_state = Watched(session.session_state)
    return assigned


def test_every_field_but_the_newest_is_tried_here() -> None:
    assert set(OTHER) <= set(FIELDS)


def test_a_new_visitor_without_an_address_has_the_defaults_and_no_address(session: SimpleNamespace) -> None:
    opened(session)
    assert {name: session.session_state[name] for name in FIELDS} == {n: field.default for n, field in FIELDS.items()}
    assert session.session_state["sentence"] == FIRST_SENTENCE
    address.write()
    assert session.query_params == {}
    assert address.notes() == []


@pytest.mark.parametrize("name", KNOWN)
def test_a_value_is_read_from_the_address_and_written_back(session: SimpleNamespace, name: str) -> None:
    text, value = OTHER[name]
    opened(session, **{name: text})
    assert session.session_state[name] == value
    address.write()
    assert session.query_params == {name: text}
    assert address.notes() == []


def test_all_values_at_once_are_read_and_written_back(session: SimpleNamespace) -> None:
    whole = {name: OTHER[name][0] for name in KNOWN}
    opened(session, **whole)
    address.write()
    assert session.query_params == whole


@pytest.mark.parametrize("name", KNOWN)
def test_a_default_is_left_out_of_the_address(session: SimpleNamespace, name: str) -> None:
    opened(session, **{name: OTHER[name][0]})
    session.session_state[name] = FIELDS[name].default
    address.write()
    assert session.query_params == {}


@pytest.mark.parametrize(("name", "text"), EVERY_BAD)
def test_a_bad_value_becomes_the_default_and_is_spoken_of(session: SimpleNamespace, name: str, text: str) -> None:
    opened(session, **{name: text})
    assert session.session_state[name] == FIELDS[name].default
    (note,) = address.notes()
    assert note.startswith(f"The address says {name}={text!r}, which does not exist: ")
    assert note.endswith(".")
    address.write()
    assert session.query_params == {}


def test_one_bad_value_takes_no_other_with_it(session: SimpleNamespace) -> None:
    opened(session, kind="nothing", layer="2", units="words")
    assert [session.session_state[name] for name in ("kind", "layer", "units")] == ["encoder", 2, "words"]
    assert len(address.notes()) == 1


def test_a_note_is_said_once(session: SimpleNamespace) -> None:
    opened(session, kind="nothing")
    address.write()
    address.read("heads")
    assert address.notes() == []


def test_a_long_bad_value_is_not_repeated_in_full(session: SimpleNamespace) -> None:
    opened(session, kind="x" * 5000)
    assert len(address.notes()[0]) < 200


def test_names_that_are_not_ours_leave_the_address(session: SimpleNamespace) -> None:
    opened(session, layer="2", utm_source="x", _address_page="y")
    address.write()
    assert session.query_params == {"layer": "2"}


def test_a_very_long_sentence_does_not_burst_the_address(session: SimpleNamespace) -> None:
    opened(session)
    session.session_state["sentence"] = "a" * 10_000
    address.write()
    assert session.query_params == {"sentence": "a" * LONGEST_TEXT}
    address.read("heads")
    assert session.session_state["sentence"] == "a" * 10_000  # the session has all of it


def test_an_address_that_we_wrote_is_no_news(session: SimpleNamespace) -> None:
    opened(session, layer="2")
    address.write()
    session.session_state["head"] = 4  # a click, between two runs
    address.read("heads")
    address.write()
    assert session.query_params == {"layer": "2", "head": "4"}


def test_what_the_browser_still_shows_of_an_earlier_address_is_no_news(session: SimpleNamespace) -> None:
    """A second click may come before the browser has put the answer to the first into its bar."""
    opened(session, layer="2")
    address.write()
    session.session_state["head"] = 4
    address.read("heads")
    address.write()
    session.session_state["key"] = 3
    opened(session, layer="2")  # not head=4 yet
    assert [session.session_state[name] for name in ("layer", "head", "key")] == [2, 4, 3]
    address.write()
    assert session.query_params == {"layer": "2", "head": "4", "key": "3"}
    session.session_state.update(head=None, key=None)
    opened(session, layer="2")  # still not, but it has been told more, so it must be told less again
    address.write()
    assert session.query_params.told[-1] == {"layer": "2"}


def test_the_menu_s_entry_of_the_very_page_keeps_all_and_puts_the_address_back(session: SimpleNamespace) -> None:
    opened(session, layer="2")
    address.write()
    opened(session)
    assert session.session_state["layer"] == 2
    address.write()
    assert session.query_params == {"layer": "2"}


def test_the_browser_is_told_nothing_that_it_has(session: SimpleNamespace) -> None:
    """It would make an entry in its history of it, however the address is spelled."""
    opened(session, layer="2")
    for _ in range(3):
        address.write()
        address.read("heads")
    assert session.query_params.told == []


def test_a_link_to_another_page_is_news(session: SimpleNamespace) -> None:
    opened(session, layer="2", query="3")
    address.write()
    opened(session, page="masked_vs_cross", layer="1", kind="cross")
    assert [session.session_state[name] for name in ("layer", "kind", "query")] == [1, "cross", None]


def test_back_and_forward_restore_every_value(session: SimpleNamespace) -> None:
    opened(session, layer="2", kind="cross")
    address.write()
    session.session_state.update(layer=1, query=3)
    address.read("heads")
    address.write()
    navigated(session, layer="2", kind="cross")  # Back
    assert [session.session_state[name] for name in ("layer", "kind", "query")] == [2, "cross", None]
    address.write()
    navigated(session, layer="1", kind="cross", query="3")  # Forward
    assert [session.session_state[name] for name in ("layer", "kind", "query")] == [1, "cross", 3]


def test_back_to_the_empty_address_of_the_same_page_is_back_to_the_defaults(session: SimpleNamespace) -> None:
    opened(session)
    address.write()
    session.session_state["kind"] = "masked"
    address.read("heads")
    address.write()
    navigated(session)
    assert session.session_state["kind"] == "encoder"
    address.write()
    assert session.query_params == {}


def test_an_empty_address_on_another_page_came_from_the_menu_and_keeps_all(session: SimpleNamespace) -> None:
    opened(session, sentence="A cat.", kind="cross", layer="2")
    address.write()
    opened(session, page="masked_vs_cross")
    assert [session.session_state[name] for name in ("sentence", "kind", "layer")] == ["A cat.", "cross", 2]
    address.write()
    assert session.query_params == {"sentence": "A cat.", "kind": "cross", "layer": "2"}


def test_back_to_where_the_menu_led_keeps_all_as_well(session: SimpleNamespace) -> None:
    here = {"sentence": "A cat.", "kind": "cross"}
    opened(session, **here)
    address.write()
    opened(session, page="masked_vs_cross")
    address.write()
    navigated(session, page="masked_vs_cross")  # the menu made an entry of its own in the browser's history
    assert session.session_state["sentence"] == "A cat."
    address.write()
    assert session.query_params == here
    navigated(session, page="heads", **here)
    assert session.session_state["sentence"] == "A cat."


def test_a_sentence_that_was_emptied_stays_empty(session: SimpleNamespace) -> None:
    """A browser does not keep a name without a value in the address."""
    opened(session, sentence="A cat.", kind="cross")
    address.write()
    session.session_state["sentence"] = ""
    address.read("heads")
    address.write()
    opened(session, **{name: text for name, text in session.query_params.items() if text})
    assert session.session_state["sentence"] == ""
    assert session.session_state["kind"] == "cross"


def test_a_widget_that_is_not_drawn_keeps_its_value(session: SimpleNamespace) -> None:
    """Streamlit forgets it at the end of the run, unless it is assigned in it."""
    opened(session, beam="7", head="3")
    assigned = watched(session, drawn=FIELDS.keys() - {"beam"})
    address.write()
    assert assigned == ["beam"]
    assert session.session_state["beam"] == 7


def test_a_value_is_assigned_only_when_it_changes(session: SimpleNamespace) -> None:
    """The browser takes over what is assigned, also over a click that it has not sent yet."""
    opened(session, layer="2")
    address.propose("head", 4)
    address.write()
    assigned = watched(session)
    address.read("heads")
    address.propose("head", 4)
    assert assigned == []
    opened(session, page="masked_vs_cross")
    of_pages = [name for name in FIELDS if name not in ON_EVERY_PAGE]
    assert assigned == of_pages, "the widgets of another page are others, though their keys are the same"


def test_a_proposal_fills_what_nobody_chose_and_stays_out_of_the_address(session: SimpleNamespace) -> None:
    opened(session)
    address.propose("layer", 3)
    assert session.session_state["layer"] == 3
    address.write()
    assert session.query_params == {}
    address.read("heads")
    address.propose("layer", 1)  # of another sentence
    assert session.session_state["layer"] == 1
    address.write()
    assert session.query_params == {}


def test_a_proposal_does_not_touch_what_somebody_chose(session: SimpleNamespace) -> None:
    opened(session, layer="2")
    address.propose("layer", 3)
    assert session.session_state["layer"] == 2
    address.write()
    assert session.query_params == {"layer": "2"}
    address.read("heads")
    address.propose("layer", 1)
    assert session.session_state["layer"] == 2


def test_a_click_on_what_was_proposed_is_a_choice(session: SimpleNamespace) -> None:
    """Silencing the proposed head moves the proposal: without this another head would be opened in its place."""
    opened(session)
    address.propose("layer", 3)
    address.choose(layer=3, head=4)
    address.write()
    assert session.query_params == {"layer": "3", "head": "4"}
    address.read("surgery")
    address.propose("layer", 1)
    assert (session.session_state["layer"], session.session_state["head"]) == (3, 4)


def test_a_click_on_a_rollout_chooses_its_layer_and_no_head(session: SimpleNamespace) -> None:
    opened(session)
    address.propose("layer", 3)
    address.propose("head", 2)
    measured.open_("encoder", layer=1, head=0)
    address.write()
    assert session.query_params == {"layer": "1"}


def test_a_choice_made_after_a_proposal_holds(session: SimpleNamespace) -> None:
    opened(session)
    address.propose("layer", 3)
    address.write()
    session.session_state["layer"] = 2
    address.read("heads")
    address.propose("layer", 1)
    address.write()
    assert session.query_params == {"layer": "2"}


def test_a_number_that_counts_too_far_is_let_go_of_and_spoken_of(session: SimpleNamespace) -> None:
    opened(session, cross_head="9", layer="2")
    address.within("cross_head", 5)
    address.within("layer", 2)
    address.within("head", 5)  # nobody has chosen one
    assert (session.session_state["cross_head"], session.session_state["layer"]) == (None, 2)
    assert address.notes() == ["There is no cross head 9 here: it counts from 1 to 5."]


def test_a_proposal_that_counts_too_far_is_let_go_of_in_silence(session: SimpleNamespace) -> None:
    opened(session)
    address.propose("step", 9)
    address.within("step", 4)
    address.propose("step", 2)
    assert session.session_state["step"] == 2
    assert address.notes() == []


def test_forgetting_is_going_back_to_the_default(session: SimpleNamespace) -> None:
    opened(session, query="3", key="2", view="lines", layer="2")
    address.forget("query", "key", "view")
    address.write()
    assert session.query_params == {"layer": "2"}


def test_a_link_carries_the_whole_address_with_its_changes(session: SimpleNamespace) -> None:
    opened(session, sentence="A cat.", layer="2", query="3", key="1")
    address.propose("head", 4)
    there = address.link(kind="cross", layer=1, head=4, query=None, key=None)
    assert there == {"sentence": "A cat.", "kind": "cross", "layer": "1", "head": "4"}
    assert address.link() == {"sentence": "A cat.", "layer": "2", "query": "3", "key": "1"}
    assert session.session_state["kind"] == "encoder"  # nothing has changed here
