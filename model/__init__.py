"""The Transformer and everything that produces numbers.

Knows no screen: imports no streamlit, no plotly, nothing from viz/ or pages/.
Each module is a noun; `python -m model.<noun> --help` says what the runnable ones do.
"""
