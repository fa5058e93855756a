"""The logit lens reads the logits themselves after the last layer, and the token that is read before the first."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from model.capture import trace_of
from model.config import ModelConfig
from model.lens import Lens, depths, lens, logits, read_out
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer

VARIANTS = {
    "post": {},
    "pre": {"norm": "pre"},
    "deeper decoder": {"decoder_layers": 4, "encoder_layers": 1, "positions": "learned"},
}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS)
def read(
    request: pytest.FixtureRequest, build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer
) -> tuple[Trace, Transformer]:
    model = build(replace(tiny, **request.param))
    source = tokenizer.encode("My sister sees two green trees in the garden!")
    return trace_of(model, tokenizer, source, tokenizer.encode("Meine Schwester, oder?")), model


def test_after_the_last_layer_it_reads_the_logits(read: tuple[Trace, Transformer]) -> None:
    trace, model = read
    last = trace.layers("cross")
    assert len(depths(trace)) == last + 1
    np.testing.assert_allclose(logits(trace, read_out(model), last), trace.logits, atol=2e-5)


def test_after_an_earlier_layer_it_reads_what_a_decoder_that_ends_there_would_put_out(
    read: tuple[Trace, Transformer], tokenizer: Tokenizer
) -> None:
    trace, model = read
    short = Transformer(replace(model.config, decoder_layers=1)).eval()
    short.load_state_dict(model.state_dict(), strict=False)
    source, target = ([token.id or 0 for token in tokens[:-1]] for tokens in (trace.source, trace.predicted))
    expected = trace_of(short, tokenizer, source, target).logits
    np.testing.assert_allclose(logits(trace, read_out(model), 1), expected, atol=2e-5)


def test_ranks_and_probabilities_after_the_last_layer_are_those_of_the_trace(read: tuple[Trace, Transformer]) -> None:
    trace, model = read
    found = lens(trace, read_out(model))
    assert found.top.shape == found.rank.shape == (trace.layers("cross") + 1, len(trace.predicted))
    np.testing.assert_array_equal(found.top[-1], trace.logits.argmax(axis=1))
    np.testing.assert_allclose(found.top_probability[-1], np.exp(trace.log_probabilities()).max(axis=1), rtol=1e-4)
    np.testing.assert_allclose(found.probability[-1], np.exp(trace.target_log_probabilities()), rtol=1e-4)
    for step, token in enumerate(trace.predicted):
        likelier = (trace.logits[step] > trace.logits[step, token.id]).sum()
        assert found.rank[-1, step] == likelier + 1


def test_the_input_is_read_before_any_layer(read: tuple[Trace, Transformer]) -> None:
    trace, model = read
    vectors = trace.tensors["decoder.input.sum_tap"]
    if model.config.norm == "post":
        expected = vectors @ model.embedding.weight.numpy().T
        np.testing.assert_allclose(logits(trace, read_out(model), 0), expected, atol=1e-5)


def test_the_answer_is_there_from_the_layer_on_after_which_it_stays_first() -> None:
    ranks = np.array([[9, 1, 1, 4, 1], [1, 1, 3, 2, 1], [1, 1, 1, 5, 2]])
    made = Lens(ranks, ranks, ranks, ranks)
    assert made.since() == [1, 0, 2, None, None]
