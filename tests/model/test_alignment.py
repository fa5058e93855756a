"""Each target word links to the source word that its prediction looks at most."""

from dataclasses import replace

import numpy as np
import pytest

from model.alignment import align, default_layer
from model.trace import Trace
from model.words import word_groups, words


def with_cross_weights(trace: Trace, weights: np.ndarray) -> Trace:
    """The trace with these weights (H, T, S) in cross layer 2."""
    return replace(trace, tensors={**trace.tensors, "decoder.layers.2.cross_attention.weights_tap": weights})


def test_links_follow_the_word_that_is_predicted_and_leave_out_the_ends(trace: Trace) -> None:
    T, S = len(trace.predicted), len(trace.source)
    columns, rows = word_groups(trace.source), word_groups(trace.predicted)
    weights = np.zeros((5, T, S), dtype=np.float32)
    weights[:, :, -1] = 0.5  # all to </s>, most
    for number, group in enumerate(rows):
        weights[2, group, columns[number + 1][0]] = 0.4
        weights[2, group, columns[5][0]] += 0.1
    links = align(with_cross_weights(trace, weights), 2, 3)
    assert [(link.target, link.source) for link in links] == [(n, n + 1) for n in range(len(rows) - 1)]
    assert [link.weight for link in links] == pytest.approx([0.4] * len(links))


def test_a_word_in_pieces_counts_with_the_sum_of_them(trace: Trace) -> None:
    columns = word_groups(trace.source)
    split = next(number for number, group in enumerate(columns) if len(group) > 1)
    whole = next(number for number, group in enumerate(columns) if len(group) == 1)
    weights = np.zeros((5, len(trace.predicted), len(trace.source)), dtype=np.float32)
    weights[..., columns[split][:2]] = 0.3
    weights[..., columns[whole]] = 0.4
    links = align(with_cross_weights(trace, weights), 2, 1)
    assert {link.source for link in links} == {split}
    assert links[0].weight == pytest.approx(0.6)


def test_without_a_head_the_layers_mean_is_taken(trace: Trace) -> None:
    means = trace.weights("cross")[1].mean(axis=0, keepdims=True).repeat(5, axis=0)
    assert align(trace, 2) == align(with_cross_weights(trace, means), 2, 4)


def test_every_word_of_the_target_has_one_link_to_a_real_source_word(trace: Trace) -> None:
    links = align(trace, 2)
    source = words(trace.source)
    assert [link.target for link in links] == list(range(len(words(trace.predicted)) - 1))
    assert not any(source[link.source].special for link in links)


def test_the_default_layer_is_the_last(trace: Trace) -> None:
    assert default_layer(trace) == 2
    last = {name: t for name, t in trace.tensors.items() if not name.startswith("decoder.layers.2")}
    assert default_layer(replace(trace, tensors=last)) == 1
