"""What-if: values that say what to change in a run. `str(edit)` is its text in an address, `edit.said` is for people.

model/editlist.py reads that text, model/editing.py carries the edits out; this file needs no torch. Layers, heads, rows
and columns count from 1; rows and columns are absolute positions, <s> and </s> included.
"""

from dataclasses import dataclass

from model.trace import KINDS

SIDES = ("encoder", "decoder")
SUBLAYERS = (*KINDS, "encoder_feed_forward", "decoder_feed_forward")


class EditError(ValueError):
    """An edit that means nothing; the message is a sentence for the person who asked for it."""


def _check(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise EditError(f"{name} {value!r} is not known; choose {', '.join(choices[:-1])} or {choices[-1]}")


def _count(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise EditError(f"{name} {number} does not exist: {name}s count from 1")


@dataclass(frozen=True)
class _OfHead:
    """An edit of one head."""

    kind: str
    layer: int
    head: int

    def __post_init__(self) -> None:
        _check("kind", self.kind, KINDS)
        _count(layer=self.layer, head=self.head)

    @property
    def at(self) -> str:
        """The head in an address."""
        return f"{self.kind}-{self.layer}.{self.head}"

    @property
    def name(self) -> str:
        """The head in a sentence."""
        return f"{self.kind} {self.layer}.{self.head}"


@dataclass(frozen=True)
class Silence(_OfHead):
    """Put 0, or its mean, in the place of what a head puts out, at every position.

    The mean is that of the head's outputs over all positions of the unedited run over the same source and the
    translation that is there without edits: a constant, so that a step learns nothing of what comes after it.
    """

    by: str = "zero"  # or "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("by", self.by, ("zero", "mean"))

    def __str__(self) -> str:
        return f"{'silence' if self.by == 'zero' else 'mean'}-{self.at}"

    @property
    def said(self) -> str:
        return f"{self.name} {'silenced' if self.by == 'zero' else 'held at its mean'}"


@dataclass(frozen=True)
class Uniform(_OfHead):
    """Every row looks at all it may look at alike."""

    def __str__(self) -> str:
        return f"uniform-{self.at}"

    @property
    def said(self) -> str:
        return f"{self.name} made uniform"


@dataclass(frozen=True)
class Only(_OfHead):
    """Silence the other heads of the same attention."""

    def __str__(self) -> str:
        return f"only-{self.at}"

    @property
    def said(self) -> str:
        return f"{self.name} the only head of its layer"


@dataclass(frozen=True)
class SetCell(_OfHead):
    """Give one cell this weight; the rest of its row is rescaled to sum to what is left.

    If the rest holds nothing, what is left is spread over it evenly. A row that may look nowhere else, or a cell that
    the mask forbids, stays as it is. Of two edits in one row the later acts on what the earlier has made.
    """

    row: int
    column: int
    weight: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _count(row=self.row, column=self.column)
        if not 0 <= self.weight <= 1:
            raise EditError(f"weight {self.weight} is no weight; it is a number from 0 to 1")

    def __str__(self) -> str:
        return f"cell-{self.at}-{self.row}.{self.column}-{str(float(self.weight)).removesuffix('.0')}"

    @property
    def said(self) -> str:
        return f"{self.name}, row {self.row}: column {self.column} set to {self.weight:.3g}"


@dataclass(frozen=True)
class SetRow(_OfHead):
    """A row looks at one column only, or without one at all columns that it may look at alike."""

    row: int
    column: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _count(row=self.row)
        if self.column is not None:
            _count(column=self.column)

    def __str__(self) -> str:
        return f"row-{self.at}-{self.row}" + ("" if self.column is None else f".{self.column}")

    @property
    def said(self) -> str:
        return f"{self.name}, row {self.row}: " + (
            "made uniform" if self.column is None else f"all on column {self.column}"
        )


@dataclass(frozen=True)
class LiftMask:
    """Let masked self-attention look ahead, in every decoder layer. The model was never trained that way."""

    def __str__(self) -> str:
        return "lift_mask"

    @property
    def said(self) -> str:
        return "the decoder's mask lifted"


@dataclass(frozen=True)
class NoPositions:
    """Embeddings alone, without the positional encoding, on this side."""

    side: str

    def __post_init__(self) -> None:
        _check("side", self.side, SIDES)

    def __str__(self) -> str:
        return f"no_positions-{self.side}"

    @property
    def said(self) -> str:
        return f"no positions in the {self.side}"


@dataclass(frozen=True)
class NoScaling:
    """Scores of one attention are not divided by the root of the head's width."""

    kind: str
    layer: int

    def __post_init__(self) -> None:
        _check("kind", self.kind, KINDS)
        _count(layer=self.layer)

    def __str__(self) -> str:
        return f"no_scaling-{self.kind}-{self.layer}"

    @property
    def said(self) -> str:
        return f"{self.kind} {self.layer} without √d"


@dataclass(frozen=True)
class _OfSublayer:
    """An edit of a whole sub-layer: an attention, named by its kind, or a feed-forward."""

    sublayer: str
    layer: int

    def __post_init__(self) -> None:
        _check("sub-layer", self.sublayer, SUBLAYERS)
        _count(layer=self.layer)

    @property
    def at(self) -> str:
        return f"{self.sublayer}-{self.layer}"

    @property
    def name(self) -> str:
        return f"{self.sublayer.replace('_feed_forward', ' feed-forward')} {self.layer}"


@dataclass(frozen=True)
class SkipSublayer(_OfSublayer):
    """The sub-layer adds 0; the residual path stays."""

    def __str__(self) -> str:
        return f"skip-{self.at}"

    @property
    def said(self) -> str:
        return f"{self.name} left out"


@dataclass(frozen=True)
class NoResidual(_OfSublayer):
    """The residual path past the sub-layer is off: what goes on is the sub-layer's output alone."""

    def __str__(self) -> str:
        return f"no_residual-{self.at}"

    @property
    def said(self) -> str:
        return f"{self.name} without its residual path"


Edit = Silence | Uniform | Only | SetCell | SetRow | LiftMask | NoPositions | NoScaling | SkipSublayer | NoResidual
