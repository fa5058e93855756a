"""What one decoder writes for one sentence, and, for a beam search, every hypothesis on the way."""

from collections.abc import Sequence

import torch

from model.beams import Branch, Tree, Written, tree
from model.config import EOS
from model.decode import Decoding, Hypothesis, beam_search, decode
from model.labels import alone
from model.tokenizer import Tokenizer
from model.transformer import Transformer


def write(model: Transformer, tokenizer: Tokenizer, source: Sequence[int], decoding: Decoding) -> tuple[Written, Tree]:
    """Translate source ids (without specials). The tree is empty unless the decoder is a beam search."""
    sentence = torch.tensor([[*source, EOS]])
    if decoding.method != "beam":
        return told(tokenizer, decode(model, sentence, decoding)[0], decoding), ()
    steps: list[list[Branch]] = []
    found = beam_search(model, sentence, decoding, watch=lambda _, branches: steps.append(branches))[0]
    best = found[0]
    grown = tree(
        steps,
        (*best.ids, EOS) if best.ended else best.ids,
        limited=any(not one.ended for one in found),
        name=lambda piece: alone(tokenizer, piece),
        length_penalty=decoding.length_penalty,
    )
    return told(tokenizer, best, decoding), grown


def told(tokenizer: Tokenizer, found: Hypothesis, decoding: Decoding) -> Written:
    """A translation of this decoder as a reader is told of it."""
    return Written(
        text=tokenizer.decode(found.ids),
        ids=found.ids,
        log_probability=found.log_probability,
        pieces=len(found.log_probabilities),
        score=found.score(decoding.length_penalty),
        ended=found.ended,
    )
