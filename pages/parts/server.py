"""Start the app: `python -m pages.parts.server`, with the options of `streamlit run`. It is what `make run` calls.

`streamlit run app.py` does almost the same. But until app.py has run once, Streamlit takes the folder pages/ for its
older kind of app: a very first visit by a link to a page would be told that there is no such page, and then shown it.
"""

import sys
from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

APP = Path(__file__).resolve().parents[2] / "app.py"


def main() -> None:
    PagesManager.uses_pages_directory = False  # app.py lists its pages
    sys.argv = ["streamlit", "run", str(APP), *sys.argv[1:]]
    cli.main()


if __name__ == "__main__":
    main()
