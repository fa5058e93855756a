"""Headlight: `streamlit run app.py`. The list of pages and the sentence above them; no logic."""

import streamlit as st

from pages.parts import address, controls, doors, line, session, takeaway
from viz.logo import logo
from viz.page import rules

st.set_page_config(
    page_title="Headlight", page_icon="🔦", layout="wide", initial_sidebar_state="collapsed", menu_items={}
)
page = st.navigation(
    {
        "Look": [
            st.Page("pages/look/translate.py", title="Translate", default=True),
            st.Page("pages/look/heads.py", title="Heads"),
            st.Page("pages/look/masked_vs_cross.py", title="Masked vs cross"),
            st.Page("pages/look/inside_a_head.py", title="Inside a head"),
        ],
        "Flow": [
            st.Page("pages/flow/architecture.py", title="Architecture"),
            st.Page("pages/flow/tokens.py", title="Tokens"),
            st.Page("pages/flow/positions.py", title="Positions"),
            st.Page("pages/flow/layers.py", title="Layers"),
            st.Page("pages/flow/feed_forward.py", title="Feed-forward"),
            st.Page("pages/flow/output.py", title="Output"),
        ],
        "Ask": [
            st.Page("pages/ask/surgery.py", title="Surgery"),
            st.Page("pages/ask/roles.py", title="Roles"),
            st.Page("pages/ask/alignment.py", title="Alignment"),
            st.Page("pages/ask/compare.py", title="Compare"),
        ],
    },
    position="top",
    expanded=True,  # in a narrow window the menu is in the sidebar: all of it, not "View 4 more"
)
st.logo(logo(controls.theme()), size="large")
st.html(rules(controls.theme()))
address.read(page.url_path)
doors.pass_through()
controls.sidebar()
controls.bar()
takeaway.begin()
with line.told([session.queue(), session.long_queue()]):
    page.run()
takeaway.draw(page.url_path or "translate")
controls.notes()
address.write()
