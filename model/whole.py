"""Atomic writes: a file or folder is whole or absent, since it gets its real name when it is on disk."""

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
    with _folder_beside(path) as part:
        yield part
        for written in part.iterdir():
            _onto_disk(written)
        part.rename(path)


@contextmanager
def replacing_files(folder: Path) -> Iterator[Path]:
    """A new folder to fill; once all its files are on disk, they take the place of those in the old one, one by one."""
    with _folder_beside(folder) as part:
        yield part
        every = list(part.iterdir())
        for written in every:
            _onto_disk(written)
        for written in every:
            written.replace(folder / written.name)


@contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a killed process that had our number, as in a container
    try:
        with _naming(path, part):
            part.mkdir()
            yield part
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
