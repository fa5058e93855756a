"""A few dozen arbitrary texts and addresses; `python -m tests.pages.fuzz` throws thousands."""

from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages import fuzz
from tests.pages.visitor import PAGES, Visitor

GIVEN = list(fuzz.inputs(3 * len(PAGES), seed=5))


@pytest.mark.parametrize("page", PAGES)
def test_whatever_is_typed_or_linked_is_a_view_or_a_sentence(visitor: Visitor, page: str) -> None:
    for given in GIVEN:
        if given.page == page:
            assert not fuzz.failure(visitor, given), given


def test_inputs_repeat_with_their_seed_and_reach_every_page() -> None:
    assert list(fuzz.inputs(40, seed=3)) == list(fuzz.inputs(40, seed=3)) != list(fuzz.inputs(40, seed=4))
    assert {given.page for given in GIVEN} == set(PAGES)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["raise ValueError('oops')"], "oops"),
        (["st.error('traceback')"], "this is no sentence: 'traceback'"),
        (["pass"], "an empty page"),
        (["st.error('The sentence is empty.')"], ""),
        (["st.text('Das Haus')"], ""),
    ],
)
def test_a_failure_is_seen(lines: Sequence[str], said: str) -> None:
    app = AppTest.from_string("\n".join(["import streamlit as st", *lines])).run()
    assert fuzz.wrong(Visitor(app)) == said
