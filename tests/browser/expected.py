"""What the shipped model computes, here and not in the app: whatever it translates, a page has to show just this."""

from functools import cache

from model import checkpoint
from model.capture import capture
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer


@cache
def loaded() -> tuple[Transformer, Tokenizer]:
    return checkpoint.load()


@cache
def read(sentence: str, target: str | None = None) -> Trace:
    """The run behind a page that shows this sentence, decoded greedily or with this target forced."""
    return capture(*loaded(), sentence, target=target)
