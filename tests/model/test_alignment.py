"""Each target word links to the source word that its row looks at most, by weight or by what is moved."""

from dataclasses import replace

import numpy as np
import pytest

from model.alignment import (
    Link,
    Reading,
    aer,
    align,
    diagonal,
    head_strengths,
    last_layer,
    links,
    links_of_heads,
    one_each,
    strengths,
    strongest,
    word_strengths,
    words_of,
)
from model.inside import OutputProjection, output_projection
from model.trace import Trace
from model.transformer import Transformer
from model.words import word_groups, words

H, K, D = 5, 4, 20
WAYS = [Reading(2, head, by, rows) for head in (None, 3) for by in ("weight", "norm") for rows in ("read", "predicted")]


@pytest.fixture(scope="module")
def projection(model: Transformer) -> OutputProjection:
    return output_projection(model, "cross", 2)


def with_cross_weights(trace: Trace, weights: np.ndarray) -> Trace:
    """The trace with these weights (H, T, S) in cross layer 2."""
    return replace(trace, tensors={**trace.tensors, "decoder.layers.2.cross_attention.weights_tap": weights})


@pytest.mark.parametrize("rows", ["read", "predicted"])
def test_links_follow_the_row_that_reads_or_predicts_the_word_and_leave_out_the_ends(
    trace: Trace, projection: OutputProjection, rows: str
) -> None:
    T, S = len(trace.predicted), len(trace.source)
    columns, groups = word_groups(trace.source), word_groups(trace.predicted)
    weights = np.zeros((H, T, S), dtype=np.float32)
    weights[:, :, -1] = 0.5  # all to </s>, most
    for number, group in enumerate(groups[:-1]):
        at = [index + (rows == "read") for index in group]
        weights[2, at, columns[number + 1][0]] = 0.4
        weights[2, at, columns[5][0]] += 0.1
    found = align(with_cross_weights(trace, weights), projection, Reading(2, 3, "weight", rows))
    assert [(link.target, link.source) for link in found] == [(n, n + 1) for n in range(len(groups) - 1)]
    assert [link.strength for link in found] == pytest.approx([0.4] * len(found))


def test_a_word_in_pieces_counts_with_the_sum_of_them(trace: Trace, projection: OutputProjection) -> None:
    columns = word_groups(trace.source)
    split = next(number for number, group in enumerate(columns) if len(group) > 1)
    whole = next(number for number, group in enumerate(columns) if len(group) == 1)
    weights = np.zeros((H, len(trace.predicted), len(trace.source)), dtype=np.float32)
    weights[..., columns[split][:2]] = 0.3
    weights[..., columns[whole]] = 0.4
    found = align(with_cross_weights(trace, weights), projection, Reading(2, 1, "weight", "predicted"))
    assert {link.source for link in found} == {split}
    assert found[0].strength == pytest.approx(0.6)


def test_by_weight_all_heads_together_are_their_mean(trace: Trace, projection: OutputProjection) -> None:
    each = [word_strengths(trace, projection, Reading(2, head, "weight", "read")) for head in range(1, H + 1)]
    together = word_strengths(trace, projection, Reading(2, None, "weight", "read"))
    np.testing.assert_allclose(together, np.mean(each, axis=0), rtol=1e-9)
    assert together.sum(axis=1).max() <= 1 + 1e-6


def test_by_norm_all_heads_together_are_the_length_of_the_sum_of_their_vectors(
    trace: Trace, projection: OutputProjection
) -> None:
    each = [word_strengths(trace, projection, Reading(2, head, "norm", "read")) for head in range(1, H + 1)]
    together = word_strengths(trace, projection, Reading(2, None, "norm", "read"))
    assert (together <= np.sum(each, axis=0) + 1e-9).all()  # vectors in different directions
    assert (together < 0.9 * np.sum(each, axis=0)).any()


@pytest.mark.parametrize("way", WAYS)
def test_every_word_of_the_target_has_one_link_to_a_real_source_word(
    trace: Trace, projection: OutputProjection, way: Reading
) -> None:
    found = align(trace, projection, way)
    source = words(trace.source)
    assert [link.target for link in found] == list(range(len(words(trace.predicted)) - 1))
    assert not any(source[link.source].special for link in found)
    strength = word_strengths(trace, projection, way)
    assert strength.shape == (len(words_of(trace.predicted)), len(words_of(trace.source)))
    assert [link.strength for link in found] == strength.max(axis=1).tolist()


def test_links_of_words_are_those_of_their_pieces(trace: Trace, projection: OutputProjection) -> None:
    source, target = word_groups(trace.source)[:-1], word_groups(trace.predicted)[:-1]
    for way in WAYS:
        by_piece = links(strengths(trace, projection, way, source), source, target)
        assert by_piece == {(link.source, link.target) for link in align(trace, projection, way)}


def test_all_heads_at_once_are_each_head_alone(trace: Trace, projection: OutputProjection) -> None:
    source, target = [[0, 1], [2], [], [3, 4]], [[0], [], [1, 2]]
    for by in ("weight", "norm"):
        heads = head_strengths(trace, projection, 2, by, source)[:, 1:]
        assert heads.shape == (H + 1, len(trace.read) - 1, 4)
        found = links_of_heads(heads, source, target)
        for head, one in zip((1, 2, 3, 4, 5, None), found, strict=True):
            assert one == links(strengths(trace, projection, Reading(2, head, by, "read"), source), source, target)


def test_a_translation_without_a_word_has_no_link() -> None:
    assert strongest(np.zeros((0, 4))) == []
    assert strongest(np.array([[0.1, 0.3]])) == [Link(1, 0, 0.3)]


def test_where_nothing_is_named_the_last_layer_is_read(trace: Trace) -> None:
    assert last_layer(trace) == Reading(2, None, "weight", "predicted")
    first = {name: t for name, t in trace.tensors.items() if not name.startswith("decoder.layers.2")}
    assert last_layer(replace(trace, tensors=first)).layer == 1


def test_a_sure_link_counts_twice_a_possible_one_once_and_only_sure_ones_are_missed() -> None:
    sure, possible = frozenset({(0, 0), (1, 1)}), frozenset({(2, 2), (3, 2)})
    assert aer(sure, sure, possible) == (4, 4)  # nothing is wrong
    assert aer(sure | possible, sure, possible) == (6, 6)
    assert aer(frozenset({(0, 0), (2, 2), (5, 5)}), sure, possible) == (3, 5)
    assert aer(frozenset(), sure, possible) == (0, 2)
    assert aer(sure | {(2, 2)}, sure) == (4, 5)  # without possible ones as with links that are all sure


def test_the_diagonal_goes_from_the_first_word_to_the_last() -> None:
    assert diagonal(3, 5) == {(0, 0), (0, 1), (1, 2), (2, 3), (2, 4)}
    assert diagonal(4, 4) == {(n, n) for n in range(4)}
    assert diagonal(6, 1) == {(0, 0)}
    assert diagonal(1, 2) == {(0, 0), (0, 1)}


def test_no_reader_with_one_link_for_each_word_does_better_than_the_best_one() -> None:
    sure, possible = frozenset({(0, 0), (1, 0), (2, 1)}), frozenset({(3, 1), (3, 2)})
    best = one_each(4, sure, possible)
    assert {target for _, target in best} == {0, 1, 2, 3}
    assert len(best) == 4
    agreed, counted = aer(best, sure, possible)
    everyone = [frozenset({(a, 0), (b, 1), (c, 2), (d, 3)}) for a, b, c, d in np.ndindex(4, 4, 4, 4)]
    assert agreed == max(aer(one, sure, possible)[0] for one in everyone)
    assert counted == 4 + 3
