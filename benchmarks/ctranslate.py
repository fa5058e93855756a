"""Our weights as a CTranslate2 model, an engine made for fast translation alone (github.com/OpenNMT/CTranslate2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from benchmarks.peers import peer
from model.attention import Attention
from model.config import EOS, NEVER
from model.tokenizer import Tokenizer
from model.transformer import DecoderLayer, FeedForward, Residual, Transformer


def convert(model: Transformer, tokenizer: Tokenizer, folder: Path) -> None:
    """Write the model as a folder that CTranslate2 loads, in float32. Post-norm, ReLU and sinusoids only."""
    config = model.config
    if (config.norm, config.activation, config.positions) != ("post", "relu", "sinusoidal"):
        raise ValueError(f"only the paper's choices can be converted; this is {config}")
    specs = peer("ctranslate2.specs")
    layers = (config.encoder_layers, config.decoder_layers)
    spec = specs.TransformerSpec.from_config(layers, config.n_heads, pre_norm=False)
    spec.config.decoder_start_token = tokenizer.piece(NEVER[1])
    pieces = [tokenizer.piece(number) for number in range(len(tokenizer))]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    fill(spec, model)
    spec.validate()
    spec.optimize()
    folder.mkdir()
    spec.save(str(folder))


def fill(spec: Any, model: Transformer) -> None:
    """Put every tensor of ours where CTranslate2 expects it."""
    table = array(model.embedding.weight)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = spec.decoder.projection.weight = table
    for side in ("encoder", "decoder"):
        ours = model.encoder if side == "encoder" else model.decoder
        getattr(spec, side).position_encodings.encodings = array(ours.input.positions)
        for put, layer in zip(getattr(spec, side).layer, ours.layers.values(), strict=True):
            _layer(put, layer)


def _layer(put: Any, layer: Any) -> None:
    _attention(put.self_attention, layer.self_attention, layer.self_attention_residual, ("query", "key", "value"))
    if isinstance(layer, DecoderLayer):
        _attention(put.attention, layer.cross_attention, layer.cross_attention_residual, ("query",), ("key", "value"))
    _feed_forward(put.ffn, layer.feed_forward, layer.feed_forward_residual)


def _attention(put: Any, attention: Attention, residual: Residual, *groups: Sequence[str]) -> None:
    """Each group of projections becomes one matrix."""
    for at, group in enumerate([*groups, ("output",)]):
        projections = [attention.get_submodule(name) for name in group]
        put.linear[at].weight = np.concatenate([array(projection.weight) for projection in projections])
        put.linear[at].bias = np.concatenate([array(projection.bias) for projection in projections])
    _norm(put.layer_norm, residual.norm)


def _feed_forward(put: Any, feed_forward: FeedForward, residual: Residual) -> None:
    for there, here in ((put.linear_0, feed_forward.hidden), (put.linear_1, feed_forward.output)):
        there.weight, there.bias = array(here.weight), array(here.bias)
    _norm(put.layer_norm, residual.norm)


def _norm(put: Any, norm: nn.LayerNorm) -> None:
    put.gamma, put.beta = array(norm.weight), array(norm.bias)


def array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().numpy())


class Translator:
    """The converted model, asked and answering in ids."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, *, threads: int) -> None:
        library = peer("ctranslate2")
        self._tokenizer = tokenizer
        self._ids = {tokenizer.piece(number): number for number in range(len(tokenizer))}
        self._translator = library.Translator(str(folder), compute_type="float32", intra_threads=threads)

    def translate(
        self, sources: Sequence[Sequence[int]], *, beam: int, shortest: int = 1, longest: int = 256
    ) -> list[list[int]]:
        """Best translation of each source, both without specials. Ranked by the plain sum of log-probabilities."""
        piece = self._tokenizer.piece
        found = self._translator.translate_batch(
            [[piece(number) for number in (*source, EOS)] for source in sources],
            beam_size=beam,
            length_penalty=0,
            min_decoding_length=shortest,
            max_decoding_length=longest,
            suppress_sequences=[[piece(number)] for number in NEVER],
        )
        return [[self._ids[text] for text in one.hypotheses[0]] for one in found]
