"""Greedy, beam and sampling choose what they say they choose, and report what the model gave it."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from model import data, decode
from model.config import BOS, EOS, MAX_PIECES, PAD, UNK, ModelConfig
from model.data import Pair
from model.decode import Decoding, Hypothesis, beam_search, sampling_distribution
from model.tokenizer import Tokenizer
from model.transformer import Transformer

METHODS = [
    Decoding(),
    Decoding("beam", beam=3),
    Decoding("sample", seed=3),
    Decoding("sample", top_k=5, temperature=2.0),
]


@pytest.fixture(scope="module")
def sources(pairs: list[Pair], tokenizer: Tokenizer) -> Tensor:
    """Seven sentences of unlike lengths, (7, S)."""
    encoded = [[*tokenizer.encode(pair.source), EOS] for pair in pairs[:7]]
    assert len({len(e) for e in encoded}) > 3
    return data.pad(encoded)


def alone(sources: Tensor, row: int) -> Tensor:
    return sources[row : row + 1, : int((sources[row] != PAD).sum())]


def log_probabilities(model: Transformer, source: Tensor, ids: Sequence[int]) -> Tensor:
    """(1 + len(ids), V), of the piece after <s>, after <s> and ids[0] …: one teacher-forced pass, no cache."""
    return model(source, torch.tensor([[BOS, *ids]]))[0].double().log_softmax(dim=-1)


def close(found: Hypothesis, expected: Hypothesis) -> bool:
    near = found.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-5)
    return (found.ids, found.ended) == (expected.ids, expected.ended) and near


def test_greedy_with_its_cache_is_the_plain_loop_without_one(trained: Transformer, sources: Tensor) -> None:
    for row, found in enumerate(decode.decode(trained, sources)):
        ids: list[int] = []
        while True:
            chances = log_probabilities(trained, alone(sources, row), ids)[-1]
            piece = int(chances.argmax())
            if piece == EOS:
                break
            ids.append(piece)
        assert found.ids == tuple(ids)
        assert found.ended


@pytest.mark.parametrize("decoding", METHODS[:2], ids=lambda d: d.method)
def test_a_batch_of_unlike_lengths_equals_its_sentences_one_by_one(
    trained: Transformer, sources: Tensor, decoding: Decoding
) -> None:
    together = decode.decode(trained, sources, decoding)
    for row, found in enumerate(together):
        assert close(found, decode.decode(trained, alone(sources, row), decoding)[0])
    assert len({len(h.ids) for h in together}) > 1


@pytest.mark.parametrize("decoding", METHODS, ids=lambda d: f"{d.method}-{d.top_k}")
def test_a_hypothesis_reports_what_teacher_forcing_gives_its_pieces(
    trained: Transformer, sources: Tensor, decoding: Decoding
) -> None:
    for row, found in enumerate(decode.decode(trained, sources, decoding)):
        chances = log_probabilities(trained, alone(sources, row), found.ids)
        pieces = [*found.ids, EOS] if found.ended else list(found.ids)
        expected = [float(chances[step, piece]) for step, piece in enumerate(pieces)]
        assert found.log_probabilities == pytest.approx(expected, abs=1e-5)
        assert found.log_probability == pytest.approx(sum(expected), abs=1e-4)


@pytest.mark.parametrize("decoding", METHODS, ids=lambda d: f"{d.method}-{d.top_k}")
def test_nothing_that_is_no_piece_is_ever_written_and_the_limit_holds(
    model: Transformer, batch: tuple[Tensor, Tensor], decoding: Decoding
) -> None:
    """The random model hardly ever ends a sentence by itself."""
    for source, found in zip(batch[0], decode.decode(model, batch[0], decoding), strict=True):
        assert not {PAD, BOS, UNK, EOS} & set(found.ids)
        limit = int((source != PAD).sum()) - 1 + 50
        assert len(found.ids) <= limit
        assert found.ended or len(found.ids) == limit
        assert len(found.log_probabilities) == len(found.ids) + found.ended


def test_the_longest_source_is_answered_with_no_more_than_the_most_pieces(model: Transformer) -> None:
    source = torch.full((1, MAX_PIECES + 1), 7)
    source[0, -1] = EOS
    found = decode.decode(model, source)[0]
    assert len(found.ids) == MAX_PIECES
    assert not found.ended


def test_a_beam_of_one_is_greedy(trained: Transformer, model: Transformer, sources: Tensor) -> None:
    for network in (trained, model):
        greedy = decode.decode(network, sources)
        for length_penalty in (0.0, 0.6, 2.0):
            beam = decode.decode(network, sources, Decoding("beam", beam=1, length_penalty=length_penalty))
            assert all(close(one, other) for one, other in zip(greedy, beam, strict=True))


@dataclass(frozen=True)
class Prefixes:
    """State of a scripted model: what each row has read after <s>."""

    read: tuple[tuple[int, ...], ...]

    def select(self, rows: Tensor, *, same_sources: bool = False) -> "Prefixes":
        return Prefixes(tuple(self.read[row] for row in rows.tolist()))


@dataclass(frozen=True)
class Scripted:
    """Stands in for a Transformer: the chances of the next piece are written down for each beginning."""

    script: dict[tuple[int, ...], dict[int, float]]
    vocabulary: int = 9

    def start(self, source: Tensor) -> Prefixes:
        return Prefixes(((),) * len(source))

    def step(self, last: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
        read = tuple((*row, piece) for row, piece in zip(state.read, last[:, 0].tolist(), strict=True))
        logits = torch.full((len(read), 1, self.vocabulary), 1e-9)
        for row, pieces in enumerate(read):
            for piece, chance in self.script.get(pieces[1:], {EOS: 1.0}).items():
                logits[row, 0, piece] = chance
        return logits.log(), Prefixes(read)


def search(script: dict[tuple[int, ...], dict[int, float]], decoding: Decoding) -> list[Hypothesis]:
    return beam_search(cast(Any, Scripted(script)), torch.tensor([[5, EOS]]), decoding)[0]


SHORT_OR_LONG = {(): {EOS: 0.4, 4: 0.39, 5: 0.21}, (4,): {EOS: 0.99, 5: 0.01}}


def test_a_beam_of_one_stops_where_greedy_stops_even_if_more_would_score_better() -> None:
    found = search(SHORT_OR_LONG, Decoding("beam", beam=1))
    assert [(h.ids, h.ended) for h in found] == [((), True)]


def test_a_beam_of_two_prefers_the_longer_sentence_only_because_of_the_length_penalty() -> None:
    """ln 0.4 = -0.916 is above ln(0.39 · 0.99) = -0.952, but not above -0.952 / (7/6)^0.6 = -0.868."""
    assert search(SHORT_OR_LONG, Decoding("beam", beam=2))[0].ids == (4,)
    assert search(SHORT_OR_LONG, Decoding("beam", beam=2, length_penalty=0.0))[0].ids == ()


def test_a_beam_finds_the_sentence_that_greedy_misses() -> None:
    script = {(): {4: 0.6, 5: 0.4}, (4,): {6: 0.5, 7: 0.5}, (5,): {EOS: 0.95, 6: 0.05}}
    assert search(script, Decoding("beam", beam=1))[0].ids[0] == 4
    assert search(script, Decoding("beam", beam=2))[0].ids == (5,)


def test_a_sentence_that_ends_among_the_rest_does_not_count_as_found() -> None:
    """</s> is second best at first: a beam of one goes on, as greedy does."""
    found = search({(): {4: 0.6, EOS: 0.4}, (4,): {5: 0.1, EOS: 0.9}}, Decoding("beam", beam=1))
    assert [h.ids for h in found] == [(4,)]


@pytest.mark.parametrize("decoding", METHODS, ids=lambda d: f"{d.method}-{d.top_k}")
def test_the_likeliest_piece_is_passed_over_if_it_is_none(decoding: Decoding) -> None:
    script = {(): {PAD: 0.4, UNK: 0.3, BOS: 0.2, 4: 0.1}, (4,): {BOS: 0.8, EOS: 0.2}}
    found = decode.decode(cast(Any, Scripted(script)), torch.tensor([[5, EOS]]), decoding)[0]
    assert (found.ids, found.ended) == ((4,), True)
    assert found.log_probabilities == pytest.approx((math.log(0.1), math.log(0.2)), abs=1e-5)


def test_hypotheses_come_with_the_best_score_first_and_no_more_than_the_beam_holds(
    trained: Transformer, sources: Tensor
) -> None:
    for found in beam_search(trained, sources, Decoding("beam", beam=4)):
        scores = [h.score(0.6) for h in found]
        assert scores == sorted(scores, reverse=True)
        assert len({h.ids for h in found}) == len(found) >= 4


def test_the_score_divides_by_the_length_penalty_of_wu_et_al() -> None:
    found = Hypothesis((4, 5, 6), (-1.0, -2.0, -0.5, -0.25), ended=True)
    assert found.score(0.6) == pytest.approx(-3.75 / ((5 + 4) / 6) ** 0.6)
    assert found.score(0.0) == -3.75


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.5, -0.5])
def test_a_beam_as_wide_as_the_space_is_an_exhaustive_search(
    build: Callable[..., Transformer], tiny: ModelConfig, monkeypatch: pytest.MonkeyPatch, length_penalty: float
) -> None:
    """Three pieces and at most 3 or 4 of them: every sentence can be written down."""
    monkeypatch.setattr(decode, "EXTRA_PIECES", 1)
    model = build(replace(tiny, vocab_size=7), seed=3)
    sources = torch.tensor([[4, 6, EOS, PAD], [5, 4, 4, EOS]])
    wide = Decoding("beam", beam=150, length_penalty=length_penalty)
    for row, found in enumerate(beam_search(model, sources, wide)):
        expected = everything(model, alone(sources, row), limit=row + 3)
        expected.sort(key=lambda h: -h.score(length_penalty))
        assert [h.ids for h in found] == [h.ids for h in expected]
        assert all(close(one, other) for one, other in zip(found, expected, strict=True))
        narrow = beam_search(model, alone(sources, row), replace(wide, beam=2))[0][0]
        assert narrow.score(length_penalty) <= expected[0].score(length_penalty) + 1e-6


def everything(model: Transformer, source: Tensor, *, limit: int) -> list[Hypothesis]:
    """All sentences of pieces 4, 5, 6: those that end before `limit`, and those that are cut there."""
    found = []
    for length in range(limit + 1):
        for ids in itertools.product((4, 5, 6), repeat=length):
            chances = log_probabilities(model, source, ids)
            pieces = ids if length == limit else (*ids, EOS)
            gained = tuple(float(chances[step, piece]) for step, piece in enumerate(pieces))
            found.append(Hypothesis(ids, gained, ended=length < limit))
    return found


def test_sampling_repeats_with_its_seed_and_only_with_it(trained: Transformer, sources: Tensor) -> None:
    one, again, other = (
        [h.ids for h in decode.decode(trained, sources, Decoding("sample", temperature=1.5, seed=seed))]
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_sampling_leaves_torchs_own_randomness_alone(trained: Transformer, sources: Tensor) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    decode.decode(trained, sources, Decoding("sample", seed=9))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    "decoding",
    [Decoding("sample", top_k=1), Decoding("sample", top_p=1e-6), Decoding("sample", temperature=1e-4)],
    ids=["top-k 1", "top-p 0", "cold"],
)
def test_sampling_tends_to_greedy(trained: Transformer, sources: Tensor, decoding: Decoding) -> None:
    greedy = decode.decode(trained, sources)
    assert all(close(a, b) for a, b in zip(decode.decode(trained, sources, decoding), greedy, strict=True))


GIVEN = (0.15, 0.5, 0.1, 0.25)


@pytest.mark.parametrize(
    ("decoding", "expected"),
    [
        (Decoding("sample"), GIVEN),
        (Decoding("sample", top_k=2), (0, 2 / 3, 0, 1 / 3)),
        (Decoding("sample", top_k=9), GIVEN),
        (Decoding("sample", top_p=0.4), (0, 1, 0, 0)),
        (Decoding("sample", top_p=0.7), (0, 2 / 3, 0, 1 / 3)),
        (Decoding("sample", top_p=0.8), (1 / 6, 5 / 9, 0, 5 / 18)),
        (Decoding("sample", temperature=0.5), (0.0225 / 0.345, 0.25 / 0.345, 0.01 / 0.345, 0.0625 / 0.345)),
        (Decoding("sample", temperature=0.5, top_k=2), (0, 0.8, 0, 0.2)),
        (Decoding("sample", temperature=0.5, top_k=3, top_p=0.75), (0, 0.8, 0, 0.2)),
    ],
)
def test_what_is_sampled_from_is_as_computed_by_hand(decoding: Decoding, expected: Sequence[float]) -> None:
    """Temperature, then top-k, then top-p, in one row and in a row that is the first one turned round."""
    rows = torch.tensor([GIVEN, GIVEN[::-1]], dtype=torch.float64).log()
    found = sampling_distribution(rows, decoding)
    torch.testing.assert_close(found, torch.tensor([expected, tuple(expected)[::-1]], dtype=torch.float64))


def test_pieces_are_drawn_as_often_as_the_model_says(
    trained: Transformer, sources: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "EXTRA_PIECES", 1 - int((sources[0] != PAD).sum()) + 1)  # one piece, no more
    source = alone(sources, 0)
    chances = log_probabilities(trained, source, [])[0].exp()
    drawn = decode.decode(trained, source.expand(4000, -1), Decoding("sample"))
    found = torch.bincount(torch.tensor([(*h.ids, EOS)[0] for h in drawn]), minlength=347) / 4000
    assert float((found - chances).abs().max()) < 4 * 0.5 / math.sqrt(4000)
    assert int((found > 0).sum()) > 3


def test_selected_rows_of_a_state_go_on_as_their_sentences_do(model: Transformer, batch: tuple[Tensor, Tensor]) -> None:
    source, target = batch
    read, following = target[:, :2], torch.tensor([[9], [8], [7], [6]])
    rows = torch.tensor([4, 0, 0, 2])
    state = model.step(read, model.start(source))[1].select(rows)
    expected = model.step(read[rows], model.start(source[rows]))[1]
    assert state.length == 2
    assert torch.equal(model.step(following, state)[0], model.step(following, expected)[0])
    fresh = model.start(source).select(rows)
    assert torch.allclose(model.step(read[rows], fresh)[0], model.step(read, model.start(source))[0][rows], atol=1e-5)


def test_a_state_whose_rows_keep_their_sources_copies_nothing_of_them(
    model: Transformer, batch: tuple[Tensor, Tensor]
) -> None:
    source, target = batch
    twice = torch.tensor([0, 0, 2, 2])
    _, state = model.step(target[twice, :2], model.start(source[twice]))
    rows = torch.tensor([1, 1, 3, 2])
    kept, copied = state.select(rows, same_sources=True), state.select(rows)
    assert kept.layers[0].memory_keys is state.layers[0].memory_keys
    following = torch.tensor([[9], [8], [7], [6]])
    assert torch.equal(model.step(following, kept)[0], model.step(following, copied)[0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "best"}, "decoder 'best' is not known; choose greedy, beam or sample"),
        ({"beam": 0}, "beam=0 must be 1 or more"),
        ({"temperature": 0.0}, "temperature=0.0 must be above 0"),
        ({"temperature": math.nan}, "temperature=nan must be above 0"),
        ({"temperature": math.inf}, "temperature=inf must be"),
        ({"top_k": -1}, "top_k=-1 must be 0 or more"),
        ({"top_p": 0.0}, "top_p=0.0 above 0"),
        ({"top_p": 1.1}, "top_p=1.1 above 0, at most 1"),
        ({"length_penalty": math.nan}, "length_penalty=nan must be"),
    ],
)
def test_an_impossible_decoding_is_refused_in_a_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Decoding(**options)
