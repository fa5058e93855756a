"""What holds for the files themselves: pinned requirements, short pages, no trace of one person's machine."""

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from streamlit import config

ROOT = Path(__file__).resolve().parents[1]
PARTS = ROOT / "pages" / "parts"
PAGE_LINES = 80

# Where links may lead; a new source is added here. A package registry never is: which one to ask is the user's choice.
HOSTS = {
    "localhost", "127.0.0.1", "0.0.0.0",
    "example", "example.com", "example.org", "elsewhere.example",
    "apache.org", "w3.org", "pytorch.org", "streamlit.io", "plotly.com", "python.org", "github.com",
    "arxiv.org", "doi.org", "aclanthology.org", "tatoeba.org", "manythings.org", "creativecommons.org",
}  # fmt: skip
HOST = re.compile(
    r"(?:https?|wss?|git|ssh)://(?:[^\s/@]+@)?(?P<linked>[\w.-]+)|\b(?P<bare>(?:[a-z0-9-]+\.)+(?:com|net|org))\b",
    re.IGNORECASE,
)
HOME = re.compile(r"(?<![\w.~}])/(?:home|Users|root|mnt|srv|work|workspace)/[\w.-]+")


@cache
def texts() -> dict[str, str]:
    """The text files of the repository, those not yet added included, by path."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout, so nothing says which files are the repository's")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    found = {}
    for name in sorted(set(filter(None, listed))):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            found[name] = content.decode(errors="replace")
    return found


def hosts(text: str) -> set[str]:
    """Hosts that a text names, with or without https:// in front, without www."""
    return {(match["linked"] or match["bare"]).lower().strip(".").removeprefix("www.") for match in HOST.finditer(text)}


def is_known(host: str) -> bool:
    return any(host == known or host.endswith(f".{known}") for known in HOSTS)


def test_links_lead_to_known_places_only() -> None:
    found = {name: {host for host in hosts(text) if not is_known(host)} for name, text in texts().items()}
    strange = {name: unknown for name, unknown in found.items() if unknown}
    assert not strange, "links to hosts that tests/test_repository.py does not list"


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert not {name: found for name, text in texts().items() if (found := HOME.findall(text))}


def test_the_look_for_hosts_and_folders_finds_them() -> None:
    text = "see https://a.example/x, wss://me@B.example:1 and www.example.org, but options.dev or model.fit"
    assert hosts(text) == {"a.example", "b.example", "example.org"}
    folder = "/".join(["", "home", "me"])
    assert HOME.findall(f"cd {folder}/x; cd src{folder}; cd ~{folder}") == [folder]


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_to_one_version(file: str) -> None:
    lines = [line for line in (ROOT / file).read_text().splitlines() if line and not line.startswith(("#", "-r "))]
    assert lines
    assert not [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line)]


def test_torch_is_pinned_to_the_version_that_has_a_small_build() -> None:
    """An open range would fetch several gigabytes."""
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text().splitlines()


def test_pages_stand_in_a_section_and_fit_on_a_screen_or_two() -> None:
    pages = ROOT / "pages"
    assert not list(pages.glob("*.py")), "Streamlit would run a page directly in pages/ without app.py"
    long = {path: n for path in pages.glob("*/*.py") if path.parent != PARTS and (n := _lines(path)) > PAGE_LINES}
    assert not long


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_the_app_s_settings_are_ones_that_streamlit_knows() -> None:
    """It only logs a warning for a misspelt one."""
    known = config.get_config_options().keys()
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert not set(_names(settings)) - known


def _names(table: dict[str, object], prefix: str = "") -> list[str]:
    names = []
    for key, value in table.items():
        names += _names(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]
    return names


def test_the_app_listens_on_this_machine_only_and_reports_to_nobody() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["address"] == "localhost"
    assert settings["browser"]["gatherUsageStats"] is False
