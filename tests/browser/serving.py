"""The app as a process of its own, as `make run` starts it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
START = 120.0  # seconds until it must answer
STOP = 10.0  # seconds to end by itself


@dataclass(frozen=True)
class Server:
    """A running app."""

    url: str  # without a slash at the end
    log_file: Path  # all it prints
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")


@contextmanager
def serving(folder: Path, *, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start the app on a free port, with its log in `folder`; wait until it answers; stop it afterwards."""
    port = free_port()
    log_file = folder / f"server-{port}.log"
    options = ["--server.headless", "true", "--server.port", str(port)]
    command = [sys.executable, "-m", "pages.parts.server", *options]
    variables = os.environ | {"PYTHONUNBUFFERED": "1"} | dict(environment or {})
    with log_file.open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=subprocess.STDOUT)
    server = Server(f"http://localhost:{port}", log_file, process)
    try:
        _wait_until_healthy(server)
        yield server
    finally:
        _stop(process)


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(server: Server) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise RuntimeError(f"the app ended with status {server.process.returncode} at once:\n{server.log}")
        try:
            with urlopen(f"{server.url}/_stcore/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not answer within {START:.0f} seconds:\n{server.log}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
