"""From logits to a sentence: greedy, beam and sampling, with a key/value cache."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.beams import DROPPED, ENDED, KEPT, Branch, score
from model.config import BOS, EOS, MAX_PIECES, NEVER, PAD
from model.encoder_decoder import EncoderDecoder

EXTRA_PIECES = 50  # a translation may be this much longer than its source (Vaswani et al. 2017, 6.1)
LENGTH_PENALTY = 0.6  # exponent of Wu et al. 2016, eq. 14, as in Vaswani et al. 2017, 6.1
Watch = Callable[[int, list[Branch]], None]  # of a beam search: a sentence, and what one step compared for it


@dataclass(frozen=True)
class Decoding:
    """How the next piece is chosen."""

    method: str = "greedy"  # or "beam", "sample"
    beam: int = 4  # hypotheses kept at each step
    length_penalty: float = LENGTH_PENALTY
    temperature: float = 1.0  # logits are divided by it before sampling
    top_k: int = 0  # sample among this many most probable pieces; 0 = all
    top_p: float = 1.0  # sample among the fewest pieces whose probabilities sum to this
    seed: int = 1

    def __post_init__(self) -> None:
        if self.method not in ("greedy", "beam", "sample"):
            raise ValueError(f"decoder {self.method!r} is not known; choose greedy, beam or sample")
        if self.beam < 1:
            raise ValueError(f"beam={self.beam} must be 1 or more")
        if not math.isfinite(self.length_penalty):
            raise ValueError(f"length_penalty={self.length_penalty} must be a finite number; 0 means none")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature={self.temperature} must be above 0, and finite; near 0 it is greedy")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise ValueError(f"top_k={self.top_k} must be 0 or more and top_p={self.top_p} above 0, at most 1")


@dataclass(frozen=True)
class Hypothesis:
    """One translation: its ids, without specials, and what the model gave each of them."""

    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]  # of each piece and, last, of </s>, if it came
    ended: bool  # with </s>; otherwise it was cut at the length limit

    @property
    def log_probability(self) -> float:
        """Sum over the pieces, natural logarithm."""
        return sum(self.log_probabilities)

    def score(self, length_penalty: float) -> float:
        """What beam search ranks by: log-probability over ((5 + length) / 6)^length_penalty, </s> counted."""
        return score(self.log_probability, len(self.log_probabilities), length_penalty)


def decode(model: EncoderDecoder, source: Tensor, decoding: Decoding = Decoding()) -> list[Hypothesis]:
    """Translate source ids (B, S), </s> included, right-padded. One best hypothesis a sentence, in order."""
    with torch.inference_mode():
        if decoding.method == "beam":
            return [found[0] for found in beam_search(model, source, decoding)]
        return _one_by_one(model, source, decoding)


def _limits(source: Tensor) -> list[int]:
    """Longest translation, in pieces, of each sentence."""
    return [min(MAX_PIECES, int(n) - 1 + EXTRA_PIECES) for n in (source != PAD).sum(dim=1)]


def next_log_probabilities(logits: Tensor) -> Tensor:
    """logits (N, V) -> log-probabilities (N, V) of the model itself, nothing left out."""
    return logits.double().log_softmax(dim=-1)


def normaliser(logits: Tensor) -> Tensor:
    """What taken from a logit leaves its log-probability: logits (N, V) -> ln of their summed exponentials (N, 1).

    float64, right within 1e-6. The V exponentials themselves are float32: in float64 they take a tenth of a search.
    """
    largest = logits.amax(dim=-1, keepdim=True)  # (N, 1)
    return largest.double() + (logits - largest).exp().sum(dim=-1, keepdim=True).double().log()


def _one_by_one(model: EncoderDecoder, source: Tensor, decoding: Decoding) -> list[Hypothesis]:
    B = source.shape[0]
    limits, generator = _limits(source), torch.Generator().manual_seed(decoding.seed)
    state, last = model.start(source), torch.full((B, 1), BOS)
    ids: list[list[int]] = [[] for _ in range(B)]
    chances: list[list[float]] = [[] for _ in range(B)]
    ended = [False] * B
    alive = list(range(B))  # sentence of each row of the shrinking batch
    while alive:
        logits, state = model.step(last, state)
        logits = logits[:, -1]  # (N, V)
        chosen = _choose(logits, decoding, generator)  # (N,)
        gained = (logits.gather(1, chosen[:, None]).double() - normaliser(logits))[:, 0].tolist()
        staying = []
        for row, sentence in enumerate(alive):
            piece = int(chosen[row])
            chances[sentence].append(gained[row])
            ended[sentence] = piece == EOS
            if not ended[sentence]:
                ids[sentence].append(piece)
                if len(ids[sentence]) < limits[sentence]:
                    staying.append(row)
        if len(staying) < len(alive):
            alive = [alive[row] for row in staying]
            state = state.select(torch.tensor(staying, dtype=torch.long))
        last = chosen[staying][:, None]
    return [Hypothesis(tuple(i), tuple(c), e) for i, c, e in zip(ids, chances, ended, strict=True)]


def _choose(logits: Tensor, decoding: Decoding, generator: torch.Generator) -> Tensor:
    """The next piece of each row. logits (N, V) -> ids (N,)."""
    if decoding.method == "greedy":
        return _allowed(logits).argmax(dim=-1)
    distribution = sampling_distribution(_allowed(next_log_probabilities(logits)), decoding)
    return torch.multinomial(distribution, 1, generator=generator)[:, 0]


def _allowed(logits: Tensor) -> Tensor:
    """The same logits or log-probabilities (N, V), but -inf for what is never written."""
    allowed = logits.clone()
    allowed[:, list(NEVER)] = float("-inf")
    return allowed


def sampling_distribution(log_probabilities: Tensor, decoding: Decoding) -> Tensor:
    """What is sampled from: temperature first, then top-k, then top-p (Holtzman et al. 2020), then rescaled to sum 1.

    log_probabilities (N, V) -> probabilities (N, V)
    """
    scaled = log_probabilities / decoding.temperature
    if decoding.top_k:
        least = scaled.topk(min(decoding.top_k, scaled.shape[-1]), dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, float("-inf"))
    probabilities = scaled.softmax(dim=-1)
    ordered, pieces = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered  # probability of all likelier pieces
    dropped = torch.zeros_like(probabilities, dtype=torch.bool).scatter(1, pieces, before >= decoding.top_p)
    kept = probabilities.masked_fill(dropped, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def beam_search(
    model: EncoderDecoder, source: Tensor, decoding: Decoding, *, watch: Watch | None = None
) -> list[list[Hypothesis]]:
    """Beam search with length penalty. source (B, S) -> for each sentence its hypotheses, best score first.

    `watch` is shown each step of each sentence: the 2 * beam likeliest continuations, and what became of them.
    """
    with torch.inference_mode():
        return _Beams(model, source, decoding, watch).search()


@dataclass(frozen=True)
class _Row:
    """One unfinished hypothesis: a row of the batch."""

    sentence: int
    ids: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    total: float = 0.0


class _Beams:
    """The hypotheses of a whole batch while they grow."""

    def __init__(self, model: EncoderDecoder, source: Tensor, decoding: Decoding, watch: Watch | None) -> None:
        self.model, self.decoding, self.limits, self.watch = model, decoding, _limits(source), watch
        self.state = model.start(source)
        self.rows = [_Row(sentence) for sentence in range(source.shape[0])]
        self.finished: list[list[Hypothesis]] = [[] for _ in self.rows]

    def search(self) -> list[list[Hypothesis]]:
        while self.rows:
            last = torch.tensor([[row.ids[-1] if row.ids else BOS] for row in self.rows])
            logits, self.state = self.model.step(last, self.state)
            self._advance(logits[:, -1])
        penalty = self.decoding.length_penalty
        return [sorted(found, key=lambda h: h.score(penalty), reverse=True) for found in self.finished]

    def _advance(self, logits: Tensor) -> None:
        beam = self.decoding.beam
        choices = logits.shape[1] - len(NEVER)
        best, pieces = _allowed(logits).topk(min(2 * beam, choices), dim=-1)  # (N, 2 * beam)
        best = best.double() - normaliser(logits)
        candidates: dict[int, list[tuple[float, int, int, float]]] = {}
        for index, (row, gains, ids) in enumerate(zip(self.rows, best.tolist(), pieces.tolist(), strict=True)):
            for gain, piece in zip(gains, ids, strict=True):
                candidates.setdefault(row.sentence, []).append((row.total + gain, index, piece, gain))
        parents: list[int] = []
        rows: list[_Row] = []
        for sentence, found in candidates.items():
            found.sort(key=lambda c: (-c[0], c[1], c[2]))
            for parent, row in self._survivors(sentence, found):
                parents.append(parent)
                rows.append(row)
        same_sources = [row.sentence for row in rows] == [row.sentence for row in self.rows]
        self.rows = rows
        if rows:
            self.state = self.state.select(torch.tensor(parents, dtype=torch.long), same_sources=same_sources)

    def _survivors(self, sentence: int, found: Sequence[tuple[float, int, int, float]]) -> list[tuple[int, _Row]]:
        """Finish what ends among the best `beam` candidates, keep the best `beam` of the others."""
        beam = self.decoding.beam
        kept: list[tuple[int, _Row]] = []
        fates = []
        for rank, (total, index, piece, gain) in enumerate(found[: 2 * beam]):
            parent = self.rows[index]
            chances = (*parent.log_probabilities, gain)
            fate = DROPPED
            if piece == EOS:
                if rank < beam:
                    fate = ENDED
                    self.finished[sentence].append(Hypothesis(parent.ids, chances, ended=True))
            elif len(kept) < beam:
                fate = KEPT
                kept.append((index, _Row(sentence, (*parent.ids, piece), chances, total)))
            fates.append(fate)
        if self.watch is not None:  # it gets values, and cannot change the search
            compared = [(self.rows[index].ids, piece, gain, total) for total, index, piece, gain in found[: 2 * beam]]
            self.watch(sentence, [Branch(*one, fate) for one, fate in zip(compared, fates, strict=True)])
        if len(self.finished[sentence]) >= beam:  # enough to choose from; a beam of one stops where greedy does
            return []
        if len(kept[0][1].ids) >= self.limits[sentence]:
            self.finished[sentence] += [Hypothesis(row.ids, row.log_probabilities, ended=False) for _, row in kept]
            return []
        return kept
