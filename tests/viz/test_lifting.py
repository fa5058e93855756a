"""What the table under a lifted mask says is what the two passes give."""

import math

import numpy as np
import pytest

from model.capture import trace_of
from model.edits import LiftMask
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from viz.lifting import table

SOURCE, TARGET = "The old man hears two green trees.", "Ein Haus, oder?"
ROUNDED = 5.1e-5  # the table has four digits


@pytest.fixture(scope="module")
def passes(trained: Transformer, tokenizer: Tokenizer) -> tuple[Trace, Trace]:
    """As trained, and with the mask lifted."""
    ids = tokenizer.encode(SOURCE), tokenizer.encode(TARGET)
    one, other = (trace_of(trained, tokenizer, *ids, edits=edits) for edits in ((), (LiftMask(),)))
    assert len(one.read) != len(one.source)
    return one, other


def chances(trace: Trace) -> list[float]:
    """P of the token that each row must predict: one exponential over the sum of all of them."""
    found = []
    for row, token in zip(trace.logits.astype(float), trace.predicted, strict=True):
        assert token.id is not None
        found.append(math.exp(row[token.id]) / sum(math.exp(logit) for logit in row))
    return found


def test_each_row_says_what_it_reads_and_must_predict(passes: tuple[Trace, Trace]) -> None:
    found = table(*passes)
    assert list(found["read"]) == [token.text for token in passes[0].read]
    assert list(found["predicts"]) == [token.text for token in passes[0].predicted]


def test_probabilities_are_those_of_the_right_next_token_in_each_pass(passes: tuple[Trace, Trace]) -> None:
    found = table(*passes)
    for name, trace in zip(("P as trained", "P with the mask lifted"), passes, strict=True):
        np.testing.assert_allclose(found[name], chances(trace), rtol=0, atol=ROUNDED)
        np.testing.assert_allclose(found[name], np.exp(trace.target_log_probabilities()), rtol=0, atol=ROUNDED)
    assert (found["P as trained"] - found["P with the mask lifted"]).abs().max() > 0.01


def test_weight_on_the_answer_is_the_mean_of_all_heads_on_the_token_that_the_row_must_predict(
    passes: tuple[Trace, Trace],
) -> None:
    _, lifted = passes
    steps, heads, layers = len(lifted.read), 5, 2
    found = table(*passes)["weight on the answer"]
    for row in range(steps - 1):
        total = 0.0
        for layer in range(1, layers + 1):
            for head in range(heads):
                total += float(lifted.tensors[f"decoder.layers.{layer}.self_attention.weights_tap"][head, row, row + 1])
        assert lifted.read[row + 1].id == lifted.predicted[row].id
        assert found[row] == pytest.approx(total / (layers * heads), abs=ROUNDED)
        assert found[row] > 0
    assert math.isnan(found[steps - 1])  # </s> is nowhere among what is read


def test_a_translation_of_nothing_has_one_row(trained: Transformer, tokenizer: Tokenizer) -> None:
    nothing = trace_of(trained, tokenizer, tokenizer.encode(SOURCE), [], edits=(LiftMask(),))
    found = table(nothing, nothing)
    assert found[["read", "predicts"]].to_numpy().tolist() == [["<s>", "</s>"]]
    assert math.isnan(found["weight on the answer"][0])
