"""Checksums, what the files of a folder were when they were written: `SHA256SUMS`, in which one wrong byte shows.

python -m model.sums weights/en-de            whether every file is what it was; `sha256sum --check` says the same
python -m model.sums weights/en-de --write    after a change by hand: take the files as they are now

Cards (`.md`) are left out: people write them, and no program reads them. No torch.
"""

import argparse
import hashlib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from model.whole import replacing

NAME = "SHA256SUMS"
LINE = re.compile(r"(?P<sum>[0-9a-f]{64})  (?P<name>[^/\r]+)")


class SumsError(ValueError):
    """A file that is not what it was when it was written; the message says which, and what to do."""


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(folder: Path, names: Iterable[str] | None = None) -> None:
    """Raise SumsError if one of these files (default: all that are listed) is not what it was.

    A folder without sums, and a file that they do not list, cannot be checked.
    """
    if not (folder / NAME).is_file():
        return
    listed = _read(folder)
    for name in listed if names is None else listed.keys() & set(names):
        if not (folder / name).is_file():
            raise SumsError(f"{folder} has no {name}, which its {NAME} lists; {_again(folder)}")
        if digest(folder / name) != listed[name]:
            raise SumsError(f"{folder / name} is damaged: it is not what {NAME} says it was; {_again(folder)}")


def write(folder: Path) -> None:
    """Take all files of a folder as they are."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    _save(folder, {path.name: digest(path) for path in files if path.name != NAME and path.suffix != ".md"})


def record(*paths: Path) -> None:
    """Take these files of one folder as they are, if it has sums."""
    folder = paths[0].parent
    if (folder / NAME).is_file():
        _save(folder, _read(folder) | {path.name: digest(path) for path in paths})


def _read(folder: Path) -> dict[str, str]:
    *lines, rest = (folder / NAME).read_bytes().decode("utf-8", "replace").split("\n")
    found = [LINE.fullmatch(line) for line in lines]
    if rest or not found or None in found:
        raise SumsError(f"{folder / NAME} is damaged; {_again(folder)}")
    return {match["name"]: match["sum"] for match in found if match}


def _save(folder: Path, sums: dict[str, str]) -> None:
    with replacing(folder / NAME) as path:
        path.write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), encoding="utf-8", newline="\n")


def _again(folder: Path) -> str:
    return f"fetch the folder again or, if you changed it yourself, run `python -m model.sums {folder} --write`"


def _run(options: argparse.Namespace) -> None:
    from model.command import InputError

    if not options.folder.is_dir():
        raise InputError(f"there is no folder {options.folder}")
    if options.write:
        write(options.folder)
    elif not (options.folder / NAME).is_file():
        raise InputError(f"{options.folder} has no {NAME}; `--write` makes it")
    try:
        check(options.folder)
    except SumsError as error:
        raise InputError(str(error)) from error
    print(f"{options.folder}: {len(_read(options.folder))} files are what they were when they were written")


def main(arguments: Sequence[str] | None = None) -> int:
    from model import command  # it loads torch, which readers of reports can do without

    parser = command.parser("sums", "Whether the files of a folder are what they were written as.", weights=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="take them as they are now")
    return command.run(_run, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
