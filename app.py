"""Headlight: `streamlit run app.py`. The list of pages and the sentence above them; no logic."""

import streamlit as st

from pages.parts import address, controls, doors
from viz.logo import logo

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
    },
    position="top",
)
st.logo(logo(controls.theme()), size="large")
address.read(page.url_path)
doors.pass_through()
controls.sidebar()
controls.bar()
page.run()
controls.notes()
address.write()
