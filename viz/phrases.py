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
VALUE_WEIGHTED = {
    "encoder": "of what it moves, ‘{row}’ takes {weight} from ‘{column}’ (encoder, layer {layer}, {head})",
    "masked": "having read ‘{row}’, about to write ‘{predicts}’, of what it moves it takes {weight} from ‘{column}’ "
    "(masked, layer {layer}, {head})",
    "cross": "having read ‘{row}’, about to write ‘{predicts}’, of what it moves it takes {weight} from ‘{column}’ in "
    "the source (cross, layer {layer}, {head})",
}
ROLLED_OUT = {
    "encoder": "by rollout, {weight} of ‘{row}’ after encoder layer {layer} comes from ‘{column}’",
    "masked": "by rollout, {weight} of the row that has read ‘{row}’ and is to write ‘{predicts}’ comes from "
    "‘{column}’ (masked attention of layers 1 to {layer})",
    "cross": "by rollout, of what the row that has read ‘{row}’ and is to write ‘{predicts}’ has of the source after "
    "layer {layer}, {weight} comes from ‘{column}’",
}
BY_MEASURE = {"raw": SENTENCES, "value": VALUE_WEIGHTED, "rollout": ROLLED_OUT}
FORBIDDEN = "‘{row}’ may not look at ‘{column}’: the mask sets this score to −∞, so its weight is exactly 0"
CAVEAT = "Attention shows where a head took values from, not why a word was chosen; silence the head to test that."
ROWS_AND_COLUMNS = "Row = the token that looks, column = the token it looks at."


def weight(value: float) -> str:
    """A weight as people read it: two digits, three below 0.1. Half way is rounded up, as JavaScript's toFixed does."""
    if 0 < value < 0.0005:
        return "<0.001"
    last_digit = Decimal("0.001") if 0 < value < 0.0995 else Decimal("0.01")
    return str(Decimal(value).quantize(last_digit, ROUND_HALF_UP))


def head(number: int | None, measure: str = "raw") -> str:
    """Which head; None is all heads of the layer: their mean, or with another measure what they do together."""
    if number is not None:
        return f"head {number}"
    return {"raw": "mean of all heads", "value": "all heads together", "rollout": "rollout from layer 1"}[measure]


def kind(name: str) -> str:
    """A kind of attention with its mark."""
    return f"{MARKS[name]} {name}"
