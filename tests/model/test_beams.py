"""The tree of a beam search is what the search did: watching changes nothing, and every number adds up."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from model import data, decode
from model.beams import CUT, DROPPED, ENDED, KEPT, LEFT, Branch, Node, Tree, count, score, tree
from model.config import BOS, EOS, PAD, ModelConfig
from model.data import Pair
from model.decode import Decoding, Hypothesis, beam_search
from model.tokenizer import Tokenizer
from model.transformer import Transformer

WIDTHS = (1, 3, 4)
PENALTY = Decoding().length_penalty


@pytest.fixture(scope="module")
def sources(pairs: list[Pair], tokenizer: Tokenizer) -> Tensor:
    """Three sentences of unlike lengths, (3, S)."""
    return data.pad([[*tokenizer.encode(pair.source), EOS] for pair in pairs[:3]])


def watched(model: Transformer, sources: Tensor, beam: int) -> tuple[list[list[Hypothesis]], list[list[list[Branch]]]]:
    """What was found, and the steps of each sentence."""
    steps: list[list[list[Branch]]] = [[] for _ in sources]
    found = beam_search(
        model, sources, Decoding("beam", beam=beam), watch=lambda sentence, branches: steps[sentence].append(branches)
    )
    return found, steps


def grown(found: list[Hypothesis], steps: list[list[Branch]], name: Callable[[int], str] = str) -> Tree:
    best = (*found[0].ids, EOS) if found[0].ended else found[0].ids
    limited = any(not one.ended for one in found)
    return tree(steps, best, limited=limited, name=name, length_penalty=PENALTY)


@pytest.mark.parametrize("beam", WIDTHS)
def test_watching_changes_no_bit_of_what_is_found(trained: Transformer, sources: Tensor, beam: int) -> None:
    assert watched(trained, sources, beam)[0] == beam_search(trained, sources, Decoding("beam", beam=beam))


@pytest.mark.parametrize("beam", WIDTHS)
def test_the_way_to_the_best_is_the_translation(trained: Transformer, sources: Tensor, beam: int) -> None:
    for row, (found, steps) in enumerate(zip(*watched(trained, sources, beam), strict=True)):
        best = decode.decode(trained, sources, Decoding("beam", beam=beam))[row]
        way = [[node for node in step if node.best] for step in grown(found, steps)]
        nodes = [one for step in way for one in step]
        assert [len(step) for step in way] == [1] * len(nodes) + [0] * (len(way) - len(nodes))
        assert tuple(int(node.text) for node in nodes) == (*best.ids, EOS)
        assert tuple(node.gain for node in nodes) == best.log_probabilities
        assert nodes[-1].score == pytest.approx(best.score(PENALTY), abs=1e-12)


@pytest.mark.parametrize("beam", WIDTHS)
def test_what_ended_in_the_tree_is_what_the_search_found(trained: Transformer, sources: Tensor, beam: int) -> None:
    for found, steps in zip(*watched(trained, sources, beam), strict=True):
        scores = [node.score for step in grown(found, steps) for node in step if node.fate == ENDED]
        assert sorted(scores, reverse=True) == pytest.approx([one.score(PENALTY) for one in found], abs=1e-12)


def test_totals_add_up_from_parent_to_child(trained: Transformer, sources: Tensor) -> None:
    for found, steps in zip(*watched(trained, sources, 4), strict=True):
        before: tuple[Node, ...] = ()
        for step in grown(found, steps):
            for node in step:
                parent = before[node.parent].total if node.parent is not None else 0.0
                assert node.total == pytest.approx(parent + node.gain, abs=1e-12)
                assert node.parent is None or before[node.parent].fate == KEPT
            before = step


def test_gains_are_what_teacher_forcing_gives(trained: Transformer, sources: Tensor) -> None:
    _, steps = watched(trained, sources, 3)
    for row in range(len(sources)):
        source = sources[row : row + 1, : int((sources[row] != PAD).sum())]
        for branch in steps[row][-1]:
            chances = trained(source, torch.tensor([[BOS, *branch.parent]]))[0, -1].double().log_softmax(dim=-1)
            assert branch.gain == pytest.approx(float(chances[branch.piece]), abs=1e-5)


@pytest.mark.parametrize("beam", WIDTHS)
def test_at_each_step_the_best_are_kept_and_none_that_was_dropped_is_better(
    trained: Transformer, sources: Tensor, beam: int
) -> None:
    _, steps = watched(trained, sources, beam)
    for branches in (branches for sentence in steps for branches in sentence):
        totals = [branch.total for branch in branches]
        assert totals == sorted(totals, reverse=True)
        assert len(branches) == 2 * beam
        kept = [branch.total for branch in branches if branch.fate == KEPT]
        assert len(kept) == beam
        dropped = [branch for branch in branches if branch.fate == DROPPED and branch.piece != EOS]
        assert all(branch.total <= min(kept) for branch in dropped)
        assert all(branch.piece == EOS for branch in branches[:beam] if branch.fate == ENDED)


def test_those_kept_last_are_left_when_enough_have_ended(trained: Transformer, sources: Tensor) -> None:
    found, steps = (part[0] for part in watched(trained, sources, 4))
    made = grown(found, steps)
    assert count(made, ENDED) == len(found) >= 4
    assert count(made[-1:], LEFT) == 4
    assert count(made, CUT) == count(made[:-1], LEFT) == count(made[-1:], KEPT) == 0


def test_those_kept_last_are_cut_at_the_length_limit(
    build: Callable[..., Transformer], tiny: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "EXTRA_PIECES", 1)
    model = build(replace(tiny, vocab_size=9), seed=3)
    found, steps = (part[0] for part in watched(model, torch.tensor([[4, 6, EOS]]), 5))
    made = grown(found, steps)
    assert [one for one in found if not one.ended]
    assert count(made, CUT) + count(made, ENDED) == len(found)
    scores = [node.score for step in made for node in step if node.fate in (CUT, ENDED)]
    assert max(scores) == pytest.approx(found[0].score(PENALTY), abs=1e-12)


def test_a_tree_has_the_names_it_is_given(trained: Transformer, tokenizer: Tokenizer, sources: Tensor) -> None:
    found, steps = (part[0] for part in watched(trained, sources, 3))
    made = grown(found, steps, tokenizer.piece)
    assert [node.text for node in made[0]] == [tokenizer.piece(branch.piece) for branch in steps[0]]


@pytest.mark.parametrize(("total", "length", "penalty", "expected"), [(-3.0, 7, 1.0, -1.5), (-3.0, 7, 0.0, -3.0)])
def test_a_score_is_as_computed_by_hand(total: float, length: int, penalty: float, expected: float) -> None:
    assert score(total, length, penalty) == expected


def test_one_hypothesis_may_have_two_children_and_each_finds_it(tokenizer: Any) -> None:
    steps = [
        [Branch((), 5, -0.1, -0.1, KEPT), Branch((), 6, -2.0, -2.0, KEPT)],
        [Branch((5,), 7, -1.0, -1.1, KEPT), Branch((5,), EOS, -1.5, -1.6, ENDED), Branch((6,), 7, -0.5, -2.5, DROPPED)],
    ]
    made = tree(steps, (5, EOS), limited=False, name=str, length_penalty=0.0)
    assert [(node.text, node.parent, node.fate, node.best) for node in made[1]] == [
        ("7", 0, LEFT, False),
        (str(EOS), 0, ENDED, True),
        ("7", 1, DROPPED, False),
    ]
    assert [node.best for node in made[0]] == [True, False]
