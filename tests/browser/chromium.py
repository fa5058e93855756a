"""The Chromium that the browser tests drive: find it, or install it.

python -m tests.browser.chromium      print where it is; install one first if there is none
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from playwright.sync_api import sync_playwright

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APPLICATIONS = ("Chromium.app/Contents/MacOS/Chromium", "Google Chrome.app/Contents/MacOS/Google Chrome")
PACKAGES = (
    "chromium",
    "fonts-noto-core",
    "fonts-noto-color-emoji",
)  # of Debian; the fonts draw other scripts and emoji

# Software drawing, and silence: without these, Chromium itself calls other hosts. No name but localhost leads anywhere.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
)


class ChromiumError(RuntimeError):
    """No Chromium that runs, in one sentence."""


@cache
def find() -> Path | None:
    """A Chromium that starts, or None. Raises ChromiumError if the variable CHROMIUM names something else."""
    if named := os.environ.get("CHROMIUM"):
        if not _runs(Path(named)):
            raise ChromiumError(f"CHROMIUM={named} is not a Chromium that starts; correct the variable or unset it")
        return Path(named)
    return next(filter(_runs, _candidates()), None)


def _candidates() -> Iterator[Path]:
    yield from (Path(path) for command in COMMANDS if (path := shutil.which(command)))
    for folder in (Path("/Applications"), Path.home() / "Applications"):
        yield from (folder / application for application in APPLICATIONS)
    with sync_playwright() as playwright:  # last: this starts a process
        yield Path(playwright.chromium.executable_path)


def _runs(path: Path) -> bool:
    """Whether it says its version: some systems have a `chromium` that only tells how to get one."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def install() -> None:
    """From the system's packages on Debian as root, else playwright's own build. Raises CalledProcessError."""
    root = os.geteuid() == 0
    if root and _is_debian():
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update"], check=True, env=environment)
        command = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
        subprocess.run(command, check=True, env=environment)
    else:
        libraries = ["--with-deps"] if root else []
        subprocess.run([sys.executable, "-m", "playwright", "install", *libraries, "chromium"], check=True)


def _is_debian() -> bool:
    """Debian itself: in some of its relatives the package of this name is an empty one."""
    release = Path("/etc/os-release")
    return release.is_file() and "ID=debian" in release.read_text().splitlines()


def main() -> int:
    try:
        if find() is None:
            print("No Chromium found; installing one for the browser tests.", flush=True)
            install()
            find.cache_clear()
        if find() is None:
            raise ChromiumError("what was installed does not start")
    except (ChromiumError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        print("Install Chromium or Chrome, or name one: CHROMIUM=path/to/it make test", file=sys.stderr)
        return 2
    print(f"Chromium: {find()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
