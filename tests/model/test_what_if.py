"""Writing under edits: with a cache, without one, and all at once come to the same; many edits in one batch, too."""

import numpy as np
import pytest
import torch

from model import what_if
from model.capture import trace_of
from model.config import BOS, EOS
from model.data import Pair
from model.decode import NEVER, Decoding
from model.editing import edited
from model.editlist import parsed
from model.edits import LiftMask
from model.taps import heard
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from model.what_if import log_probabilities, means_of, write_anew, write_edited

EDITS = [
    "silence-encoder-2.4",
    "mean-encoder-1.2,mean-masked-2.3,mean-cross-1.4",
    "uniform-masked-2.1,uniform-cross-2.5",
    "only-cross-1.4",
    "cell-cross-2.3-2.3-1,cell-cross-1.2-4.1-0.8",
    "cell-masked-1.3-4.2-0.9,row-masked-2.2-5.1,row-masked-2.1-3",
    "row-cross-1.1-3.2,row-cross-1.2-3.2,row-cross-1.3-3.2,row-cross-1.4-3.2,row-cross-1.5-3.2",
    "no_positions-decoder,no_scaling-masked-2",
    "skip-cross-2,no_residual-decoder_feed_forward-1",
]
EACH = pytest.mark.parametrize("written", EDITS)


@pytest.fixture(scope="module")
def source(tokenizer: Tokenizer, pairs: list[Pair]) -> list[int]:
    return tokenizer.encode(pairs[3].source)


@pytest.fixture(scope="module")
def means(trained: Transformer, source: list[int]) -> dict[str, torch.Tensor]:
    return means_of(trained, source, write_edited(trained, source, ()).ids)


@EACH
def test_with_a_cache_without_one_and_all_at_once_the_same_is_written(
    trained: Transformer, source: list[int], means: dict[str, torch.Tensor], written: str
) -> None:
    edits = parsed(written)
    found = write_edited(trained, source, edits, means=means)
    anew = write_anew(trained, source, edits, means=means)
    assert (found.ids, found.ended) == (anew.ids, anew.ended)
    assert found.log_probabilities == pytest.approx(anew.log_probabilities, abs=1e-5)
    read = torch.tensor([[BOS, *found.ids]])
    logits = heard(edited(edits, means=means), trained, torch.tensor([[*source, EOS]]), read)[0]  # (T, V)
    logits[:, list(NEVER)] = float("-inf")
    steps = len(found.log_probabilities)
    assert logits.argmax(dim=-1).tolist()[:steps] == [*found.ids, EOS][:steps]
    plain = write_edited(trained, source, ())
    assert found.log_probabilities != pytest.approx(plain.log_probabilities, abs=1e-4), "the edit does something"


def test_writing_step_by_step_a_row_is_found_at_its_absolute_position(model: Transformer, source: list[int]) -> None:
    """Step by step every tensor has one row; only the fourth of them may change, and through it what follows."""
    edits, ids = parsed("row-cross-2.3-4.2"), [7, 8, 9, 10, 11]

    def all_steps() -> list[torch.Tensor]:
        state, logits = model.start(torch.tensor([[*source, EOS]])), []
        for piece in (BOS, *ids):
            step, state = model.step(torch.tensor([[piece]]), state)
            logits.append(step[0, 0])
        return logits

    with torch.inference_mode():
        changed = [
            not torch.equal(one, other) for one, other in zip(all_steps(), heard(edited(edits), all_steps), strict=True)
        ]
    assert changed == [False, False, False, True, False, False]  # the last layer: nothing after it sees that row


@pytest.mark.parametrize("decoding", [Decoding("beam", beam=3), Decoding("sample", seed=4)], ids=["beam", "sample"])
@pytest.mark.parametrize("written", ["silence-encoder-2.4,cell-cross-2.3-2.3-1", "mean-masked-2.3,uniform-cross-1.2"])
def test_every_decoder_writes_under_edits(
    trained: Transformer,
    source: list[int],
    means: dict[str, torch.Tensor],
    decoding: Decoding,
    written: str,
) -> None:
    edits = parsed(written)
    found = write_edited(trained, source, edits, decoding=decoding, means=means)
    _, gained = log_probabilities(trained, source, found.ids, [edits], means=means)
    assert found.ended
    assert found.log_probabilities == pytest.approx(gained.tolist(), abs=1e-5)


def test_under_a_lifted_mask_writing_is_done_without_a_cache(trained: Transformer, source: list[int]) -> None:
    edits = (LiftMask(), *parsed("silence-cross-1.4"))
    assert write_edited(trained, source, edits, decoding=Decoding("beam")) == write_anew(trained, source, edits)


@pytest.mark.parametrize("most", [10_000, 40, 1], ids=["one batch", "a few at once", "one by one"])
def test_many_edits_at_once_give_what_each_gives_in_a_trace_of_its_own(
    trained: Transformer,
    tokenizer: Tokenizer,
    source: list[int],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
) -> None:
    monkeypatch.setattr(what_if, "BATCH_PIECES", most)
    target = tokenizer.encode("Der alte Mann sucht zwei Bäume.")
    means = means_of(trained, source, target)
    lists = [parsed(written) for written in (*EDITS, "lift_mask", "no_positions-encoder")]
    found = log_probabilities(trained, source, target, lists, means=means)
    assert found.shape == (len(lists) + 1, len(target) + 1)
    for row, edits in zip(found, ((), *lists), strict=True):
        trace = trace_of(trained, tokenizer, source, target, edits=edits, means=means)
        np.testing.assert_allclose(row, trace.target_log_probabilities(), rtol=0, atol=1e-5)


def test_without_lists_there_is_the_unedited_run(trained: Transformer, tokenizer: Tokenizer, source: list[int]) -> None:
    found = log_probabilities(trained, source, [9, 8], [])
    np.testing.assert_allclose(
        found, [trace_of(trained, tokenizer, source, [9, 8]).target_log_probabilities()], rtol=0, atol=1e-5
    )
