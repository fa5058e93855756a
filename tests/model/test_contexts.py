"""One piece in two sentences: which pieces both have, and how like its vectors are from place to place."""

import numpy as np
import pytest

from model.capture import trace_of
from model.contexts import LONG, contexts, most_parted, shared
from model.stream import tokens
from model.tokenizer import Tokenizer
from model.trace import LabelError, Trace
from model.transformer import Transformer


@pytest.fixture(scope="module")
def second(model: Transformer, tokenizer: Tokenizer) -> Trace:
    """Another source and another target, of other lengths; both share pieces with the first."""
    return trace_of(model, tokenizer, tokenizer.encode("Two trees hear the old dog."), tokenizer.encode("Haus, oder?"))


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.astype(float), other.astype(float)
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_shared_pieces_are_the_same_piece_and_the_first_of_its_kind(trace: Trace, second: Trace, side: str) -> None:
    found, here, there = shared(trace, second, side), tokens(trace, side), tokens(second, side)
    assert found
    for row, column in found.items():
        assert here[row].id == there[column].id
        assert here[row].id not in [token.id for token in there[:column]]
    left_out = [token for place, token in enumerate(here) if place not in found]
    assert not {token.id for token in left_out} & {token.id for token in there}


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_cosines_are_those_of_the_taps(trace: Trace, second: Trace, side: str) -> None:
    layers = {"encoder": 3, "decoder": 2}[side]
    names = [f"{side}.input.embeddings_tap", f"{side}.input.sum_tap"]
    names += [f"{side}.layers.{n}.feed_forward_residual.norm_tap" for n in range(1, layers + 1)]
    (row, column), *_ = shared(trace, second, side).items()
    found = contexts(trace, second, side, row, column)
    assert found.places == ("embedding", "with position", *(f"after layer {n}" for n in range(1, layers + 1)))
    assert found.cosines[0] == pytest.approx(1.0)
    here, there = tokens(trace, side), tokens(second, side)
    for place, name in enumerate(names):
        one, other = trace.tensors[name], second.tensors[name]
        assert found.cosines[place] == pytest.approx(cosine(one[row], other[column]))
        unlike = [cosine(one[i], other[j]) for i, a in enumerate(here) for j, b in enumerate(there) if a.id != b.id]
        assert found.others[place] == pytest.approx(np.mean(unlike))


def test_another_piece_is_refused(trace: Trace, second: Trace) -> None:
    with pytest.raises(LabelError, match="different"):
        contexts(trace, second, "encoder", 0, len(second.source) - 1)


def test_the_piece_that_parts_most_is_the_least_alike_word_of_both(trace: Trace, second: Trace) -> None:
    found = shared(trace, second, "encoder")
    letters = {row: sum(c.isalnum() for c in trace.source[row].text) for row in found if not trace.source[row].special}
    least = min(LONG, max(letters.values()))
    assert 0 < min(letters.values()) < least or 0 in letters.values(), "or length would not matter"
    ends = {r: contexts(trace, second, "encoder", r, found[r]).cosines[-1] for r in letters if letters[r] >= least}
    assert most_parted(trace, second, "encoder") == min(ends, key=lambda row: ends[row])


def test_nothing_in_common_parts_nowhere(trace: Trace, model: Transformer, tokenizer: Tokenizer) -> None:
    used = {token.id for token in trace.source}
    strange = trace_of(model, tokenizer, [next(i for i in range(300, 347) if i not in used)], [])
    last = len(trace.source) - 1
    assert shared(trace, strange, "encoder") == {last: 1}, "only </s>"
    assert most_parted(trace, strange, "encoder") is None
