"""How many numbers a model learned, part by part; together they are all of them. No torch."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.transformer import Transformer

# Where a parameter's module path puts it; the first that fits counts.
_PARTS = (
    ("embedding", r"embedding\."),
    ("encoder_positions", r"encoder\.input\.positions"),
    ("decoder_positions", r"decoder\.input\.positions"),
    ("encoder", r"encoder\.layers\.\d+\.self_attention\."),
    ("encoder_feed_forward", r"encoder\.layers\.\d+\.feed_forward\."),
    ("encoder_norms", r"encoder\..*norm"),
    ("masked", r"decoder\.layers\.\d+\.self_attention\."),
    ("cross", r"decoder\.layers\.\d+\.cross_attention\."),
    ("decoder_feed_forward", r"decoder\.layers\.\d+\.feed_forward\."),
    ("decoder_norms", r"decoder\..*norm"),
)


@dataclass(frozen=True)
class Counts:
    """Numbers by part; embedding is one matrix for both languages and for the output."""

    parts: dict[str, int]
    total: int

    def __post_init__(self) -> None:
        if sum(self.parts.values()) != self.total:
            raise ValueError(f"the parts have {sum(self.parts.values())} parameters, the model has {self.total}")


def count(model: "Transformer") -> Counts:
    """Every parameter of the model in one part. Raises ValueError for one that fits nowhere."""
    found = dict.fromkeys((name for name, _ in _PARTS), 0)
    for path, parameter in model.named_parameters():
        found[_part(path)] += parameter.numel()
    return Counts(found, sum(parameter.numel() for parameter in model.parameters()))


def _part(path: str) -> str:
    for name, pattern in _PARTS:
        if re.match(pattern, path):
            return name
    raise ValueError(f"the parameter {path} belongs to no part; add it to model/parameters.py")
