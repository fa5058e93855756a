"""What every command line of ours has in common: --weights, clear errors, exit status 2."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from model.checkpoint import WEIGHTS, CheckpointError
from model.config import ConfigError
from model.data import DataError
from model.sums import SumsError
from model.tokenizer import TokenizerError

SAID_PLAINLY = (CheckpointError, ConfigError, DataError, SumsError, TokenizerError, OSError)


WIDEST_BEAM = 64  # each hypothesis is a row of the batch, and nothing is gained beyond a dozen


class InputError(ValueError):
    """Input that a command cannot work with; the message is one sentence for the person who typed it."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong with an option in one line, too."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; see {self.prog} --help\n")


def parser(module: str, purpose: str, *, weights: bool = True) -> argparse.ArgumentParser:
    """A parser for `python -m model.<module>`, with --weights where the command reads a model."""
    made = Parser(prog=f"python -m model.{module}", description=purpose)
    if weights:
        made.add_argument("--weights", type=Path, default=WEIGHTS, help="weights folder (default: the shipped one)")
    return made


def run(
    body: Callable[[argparse.Namespace], None], made: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> int:
    """Parse, run, and turn a mistake in the input into one line on stderr and status 2."""
    options = made.parse_args(arguments)
    try:
        body(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        return 0
    except (*SAID_PLAINLY, InputError) as error:
        print(f"error: {_sentence(error)}", file=sys.stderr)
        return 2
    return 0


def at_least(least: int, most: int | None = None) -> Callable[[str], int]:
    """An argparse type: a whole number, `least` or more, and at most `most`."""

    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            range_ = f"of {least} or more" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {range_}")
        return number

    return whole


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
