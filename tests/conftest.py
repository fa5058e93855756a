"""What the tests share: sentences of our own, a tokenizer learned from them, tiny Transformers, and a weights folder.

Every axis has a size that no other axis has, so that a transposed one cannot pass: layers 2 and 3, heads 5 of width 4,
batch 6, target 8, source 11, D 20, F 37, vocabulary 347. Nothing is downloaded, and weights/ is not needed.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from model import checkpoint, data
from model.capture import trace_of
from model.config import BOS, EOS, ModelConfig
from model.data import Augmentation, Pair
from model.schedule import Schedule
from model.tokenizer import Tokenizer, train_tokenizer
from model.trace import Trace
from model.train import Recipe, Trainer, batches_from
from model.transformer import Transformer

torch.set_num_threads(1)  # on tensors this small a second thread only waits, and results must not depend on the machine

TINY = ModelConfig(347, d_model=20, n_heads=5, d_ff=37, encoder_layers=3, decoder_layers=2)
SUBJECTS = {
    "The cat": "Die Katze",
    "A small dog": "Ein kleiner Hund",
    "My sister": "Meine Schwester",
    "The old man": "Der alte Mann",
    "Tom": "Tom",
    "Mary": "Maria",
}
VERBS = {"sees": "sieht", "doesn't hear": "hört nicht", "draws": "zeichnet", "looks for": "sucht"}
OBJECTS = {
    "the house": "das Haus",
    "a white horse": "ein weißes Pferd",
    "the child's book": "das Buch des Kindes",
    "two green trees": "zwei grüne Bäume",
    "25 keys": "25 Schlüssel",
}
ENDS = {".": ".", " today.": " heute.", ", doesn't he?": ", oder?", " in the garden!": " im Garten!"}


@pytest.fixture(scope="session")
def pairs() -> list[Pair]:
    """480 different sentence pairs, in a mixed but fixed order."""
    chosen = itertools.product(SUBJECTS.items(), VERBS.items(), OBJECTS.items(), ENDS.items())
    made = [Pair(f"{s} {v} {o}{e}", f"{s2} {v2} {o2}{e2}") for (s, s2), (v, v2), (o, o2), (e, e2) in chosen]
    return [made[i * 77 % len(made)] for i in range(len(made))]


@pytest.fixture(scope="session")
def tokenizer(pairs: list[Pair]) -> Tokenizer:
    return train_tokenizer((text for p in pairs for text in (p.source, p.target)), vocab_size=TINY.vocab_size)


@pytest.fixture(scope="session")
def tiny() -> ModelConfig:
    return TINY


@pytest.fixture(scope="session")
def build() -> Callable[..., Transformer]:
    """Makes a random Transformer, in eval mode: `build(config, seed=2)`."""
    return random_model


@pytest.fixture(scope="session")
def model() -> Transformer:
    """One random model for all tests: look, do not touch."""
    return random_model(TINY)


@pytest.fixture(scope="session")
def batch() -> tuple[Tensor, Tensor]:
    """Source ids (6, 11) and target ids (6, 8), both with padding, in rows of unlike lengths."""
    generator = torch.Generator().manual_seed(5)

    def some(n: int) -> list[int]:
        return torch.randint(4, TINY.vocab_size, (n,), generator=generator).tolist()

    source = data.pad([[*some(n - 1), EOS] for n in (11, 9, 4, 7, 10, 3)])
    return source, data.pad([[BOS, *some(n - 1)] for n in (8, 3, 6, 8, 2, 5)])


@pytest.fixture(scope="session")
def trained(pairs: list[Pair], tokenizer: Tokenizer) -> Transformer:
    """Three seconds of training on `pairs`: it writes German of theirs, and hardly heeds the source."""
    recipe = Recipe(Schedule(TINY.d_model, 30, 0.01), 600, 0.0, 0.05, augmentation=Augmentation(0.0, 0.0))
    with torch.random.fork_rng():
        torch.manual_seed(1)
        trainer = Trainer(Transformer(TINY, dropout=0.0), tokenizer, recipe)
        for step, (_, _, batch) in zip(range(1, 201), batches_from(pairs, tokenizer, recipe, 0, 0), strict=False):
            trainer.step(batch, step)
    return trainer.model.eval().requires_grad_(False)


@pytest.fixture(scope="session")
def trace(model: Transformer, tokenizer: Tokenizer) -> Trace:
    """A run of the random model, more source than target, with a German word of several pieces."""
    source = tokenizer.encode("The old man doesn't hear two green trees in the garden!")
    return trace_of(model, tokenizer, source, tokenizer.encode("Hausbaumgarten, oder?"))


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory, trained: Transformer, tokenizer: Tokenizer) -> Path:
    """A weights folder, float16 as the shipped one is. Read it; to damage it, copy it first."""
    folder = tmp_path_factory.mktemp("weights") / "tiny"
    checkpoint.save(folder, TINY, {name: tensor.half() for name, tensor in trained.state_dict().items()}, tokenizer)
    return folder


def random_model(config: ModelConfig, *, seed: int = 1) -> Transformer:
    """Biases and LayerNorms are random too, or no test could tell whether they are used."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = Transformer(config).eval().requires_grad_(False)
        for module in made.modules():
            if isinstance(module, nn.Linear):
                module.bias.normal_(std=0.3)
            if isinstance(module, nn.LayerNorm):
                module.weight.uniform_(0.6, 1.6)
                module.bias.normal_(std=0.3)
    return made
