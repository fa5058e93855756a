"""The built-in sentences: varied, and recorded as each of them is read by itself."""

import numpy as np

from model.capture import prepare, trace_of, translate_ids
from model.examples import record, sentences
from model.neurons import hidden
from model.stream import tokens
from model.tokenizer import Tokenizer
from model.transformer import Transformer


def test_there_are_some_dozens_of_different_sentences_of_different_length() -> None:
    found = sentences()
    assert 40 <= len(found) <= 60
    assert len(set(found)) == len(found)
    assert all(text == text.strip() and text[-1] in ".?!" for text in found)
    assert len({len(text.split()) for text in found}) >= 8


def test_each_is_recorded_as_it_is_read_by_itself_with_the_model_s_own_translation(
    trained: Transformer, tokenizer: Tokenizer
) -> None:
    texts = ["The cat sees the house.", "A small dog doesn't hear the child's book today.", "Tom draws 25 keys."]
    found = record(trained, tokenizer, texts)
    first = {"encoder": 0, "decoder": 0}
    for index, text in enumerate(texts):
        source = prepare(tokenizer, text)
        trace = trace_of(trained, tokenizer, source.ids, translate_ids(trained, source).ids)
        for side, layers in (("encoder", 3), ("decoder", 2)):
            assert found[side].sentences[index] == tokens(trace, side)
            last = first[side] + len(tokens(trace, side))
            for layer in range(1, layers + 1):
                active = hidden(trace, side, layer, "active")
                np.testing.assert_allclose(found[side].active[layer][first[side] : last], active, rtol=1e-5, atol=1e-5)
            first[side] = last
    assert [len(found[side].active[1]) for side in first] == list(first.values())
