"""Make sure that the browser tests really ran, from the results that pytest wrote.

python -m tests.browser.ran test-results/tests.xml      silent, or exit status 1 and what did not run
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent


def missing(results: ElementTree.Element) -> list[str]:
    """One sentence for each browser test that was skipped and each file of them of which no test passed."""
    cases = [case for case in results.iter("testcase") if case.get("classname", "").startswith("tests.browser.")]
    skipped = [f"{case.get('classname')}.{case.get('name')} was skipped" for case in cases if _has(case, "skipped")]
    passed = {
        case.get("classname", "").split(".")[2] for case in cases if not _has(case, "skipped", "failure", "error")
    }
    files = sorted(path.stem for path in HERE.glob("test_*.py"))
    if not files:
        return ["there are no browser tests"]
    return skipped + [f"no test of tests/browser/{file}.py passed" for file in files if file not in passed]


def _has(case: ElementTree.Element, *outcomes: str) -> bool:
    return any(case.find(outcome) is not None for outcome in outcomes)


def main(arguments: Sequence[str]) -> int:
    complaints = missing(ElementTree.parse(arguments[0]).getroot())
    for complaint in complaints:
        print(f"error: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
