"""Labelled numbers in; a figure, a table or bytes for a canvas out.

Pure: no torch, no streamlit, no clock. The same input always gives the same picture.
Colours and spacing come from viz/theme.py, for Python and JavaScript alike.
"""
