"""What can be told of a residual stream, in words: for a list to choose from, over a picture, and of one cell."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """How one quantity is said."""

    choice: str  # in the list of quantities
    title: str
    sentence: str  # of a cell
    cosine: bool = False  # on a scale from -1 to 1


_AFTER = "‘{row}’ ({row_number}), {column}: "
WORDING = {
    "length": Wording("length of the vector", "Length of each token's vector", _AFTER + "a vector of length {value}"),
    "previous": Wording(
        "turn at this sub-layer",
        "Cosine with the vector one sub-layer before: 1 = same direction",
        _AFTER + "cosine {value} with the vector one sub-layer before",
        cosine=True,
    ),
    "start": Wording(
        "turn since the start",
        "Cosine with the start, embedding and position: 1 = same direction",
        _AFTER + "cosine {value} with the start",
        cosine=True,
    ),
    "end": Wording(
        "nearness to the end",
        "Cosine with the vector after the last layer: 1 = same direction",
        _AFTER + "cosine {value} with the end",
        cosine=True,
    ),
    "added": Wording(
        "length of what is added", "Length of what each sub-layer adds", _AFTER + "adds a vector of length {value}"
    ),
    "agrees": Wording(
        "direction of what is added",
        "Cosine of what a sub-layer adds with what was there",
        _AFTER + "what is added has cosine {value} with what was there",
        cosine=True,
    ),
    "share": Wording(
        "share of what is added",
        "Share of the sum that the sub-layer makes up; the rest came along the residual path",
        _AFTER + "the sub-layer makes up {value} of the sum",
        cosine=True,
    ),
    "mean_before": Wording("mean before LayerNorm", "Mean of the vector that goes into LayerNorm", _AFTER + "{value}"),
    "mean_after": Wording("mean after LayerNorm", "Mean of the vector that comes out of LayerNorm", _AFTER + "{value}"),
    "variance_before": Wording(
        "variance before LayerNorm", "Variance of the vector that goes into LayerNorm", _AFTER + "{value}"
    ),
    "variance_after": Wording(
        "variance after LayerNorm", "Variance of the vector that comes out of LayerNorm", _AFTER + "{value}"
    ),
}
CHOICES = {quantity: wording.choice for quantity, wording in WORDING.items()}
NO_START = "at the start no sub-layer has added anything yet"
HOW_TO_READ = (
    "A row is a token, a column the stream after a sub-layer; the first column is embedding and position. A cell "
    "chooses both. What a vector means does not show here: only how long it is, where it points and what was added "
    "to it."
)
ALIKE = (
    "A cell: the cosine between the vectors of two tokens after the chosen sub-layer, 1 where they point the same "
    "way. The line: the mean over all pairs of different tokens."
)
