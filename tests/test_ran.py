"""Results of a test run in which browser tests are missing do not pass for complete ones."""

from xml.etree import ElementTree

from tests.browser.ran import HERE, missing

FILES = sorted(path.stem for path in HERE.glob("test_*.py"))


def results(outcomes: dict[str, str]) -> ElementTree.Element:
    """What pytest writes for one test in each file of tests/browser/, with these outcomes; "" is a pass."""
    cases = [
        f'<testcase classname="tests.browser.{file}" name="test_it">{outcome}</testcase>'
        for file, outcome in outcomes.items()
    ]
    return ElementTree.fromstring(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")


def test_a_run_with_every_file_passed_is_complete() -> None:
    assert missing(results(dict.fromkeys(FILES, ""))) == []


def test_a_skipped_test_is_told() -> None:
    complaints = missing(results({**dict.fromkeys(FILES, ""), "test_other": '<skipped message="no Chromium"/>'}))
    assert complaints == ["tests.browser.test_other.test_it was skipped"]


def test_a_file_that_was_left_out_or_did_not_pass_is_told() -> None:
    sentence = f"no test of tests/browser/{FILES[0]}.py passed"
    assert sentence in missing(results({}))
    for outcome in ("skipped", "failure", "error"):
        assert sentence in missing(results({FILES[0]: f"<{outcome}/>"}))
