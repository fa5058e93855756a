"""What Streamlit's own theme cannot say: what stands in one row is one line, rows that wrap stay close, no text is
paler than `soft`, and under a finger, where the buttons of a table are always there, they cover no heading.
"""

from viz.theme import Theme

TALL = "2.5rem"  # of Streamlit's fields, and so of all that stands beside them

RULES = """<style>
[data-testid="stButtonGroup"] [role="radio"] {{ min-height: {tall}; }}
[data-testid="stButtonGroup"] [aria-checked="true"] * {{ color: {ink}; }}
[data-testid="stCheckbox"] {{ min-height: {tall}; display: flex; align-items: center; margin: 0 !important; }}
[data-testid="stPageLink"] a {{ min-height: {tall}; padding-left: 0; position: relative; top: -4px; }}
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {{ color: {soft}; opacity: 1; }}
[data-testid="stHorizontalBlock"] {{ row-gap: 1rem; }}
[data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"]) {{ row-gap: 2rem; }}
@media (hover: none) {{ [data-testid="stDataFrame"] {{ margin-top: 32px; }} }}
</style>"""


def rules(theme: Theme) -> str:
    """The rules as an element for the page."""
    return RULES.format(tall=TALL, ink=theme.ink, soft=theme.soft)
