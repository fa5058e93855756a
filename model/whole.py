"""Files and folders that are whole or absent: each is written under another name, and renamed when it is on disk."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to; the file gets its real name once it is whole and on disk. After an error nothing is left."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _naming(path, part):
            yield part
            _onto_disk(part)
            part.replace(path)
    finally:
        with suppress(OSError):  # on a read-only disk; the error that matters is on its way
            part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A new folder to fill; it gets its real name once it is whole. After an error nothing is left."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a killed process that had our number, as in a container
    try:
        with _naming(path, part):
            part.mkdir()
            yield part
            for written in part.iterdir():
                _onto_disk(written)
            part.rename(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _onto_disk(path: Path) -> None:
    with path.open("rb") as written:
        os.fsync(written.fileno())


@contextmanager
def _naming(path: Path, part: Path) -> Iterator[None]:
    """Errors name the file that was wanted: a full disk names none, others the name that nobody gave."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).startswith(str(part))):
            error.filename = str(path)
        raise
