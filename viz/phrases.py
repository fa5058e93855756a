"""What a cell says, as a sentence: the same words in Plotly's hover text, on a canvas and for a screen reader."""

from decimal import ROUND_HALF_UP, Decimal

from viz.theme import MARKS

# {row} looks, {column} is looked at; a decoder row reads {row} and predicts {predicts}.
SENTENCES = {
    "encoder": "‘{row}’ looks at ‘{column}’: {weight} (encoder, layer {layer}, {head})",
    "masked": "having read ‘{row}’, about to write ‘{predicts}’, it looks back at ‘{column}’: {weight} "
    "(masked, layer {layer}, {head})",
    "cross": "having read ‘{row}’, about to write ‘{predicts}’, it looks at ‘{column}’ in the source: {weight} "
    "(cross, layer {layer}, {head})",
}
FORBIDDEN = "‘{row}’ may not look at ‘{column}’: the mask sets this score to −∞, so its weight is exactly 0"
CAVEAT = "Attention shows where a head took values from, not why a word was chosen."
ROWS_AND_COLUMNS = "Row = the token that looks, column = the token it looks at."


def weight(value: float) -> str:
    """A weight as people read it: two digits, three below 0.1. Half way is rounded up, as JavaScript's toFixed does."""
    if 0 < value < 0.0005:
        return "<0.001"
    last_digit = Decimal("0.001") if 0 < value < 0.0995 else Decimal("0.01")
    return str(Decimal(value).quantize(last_digit, ROUND_HALF_UP))


def head(number: int | None) -> str:
    """Which head; None is the mean of all heads of the layer."""
    return "mean of all heads" if number is None else f"head {number}"


def kind(name: str) -> str:
    """A kind of attention with its mark."""
    return f"{MARKS[name]} {name}"
