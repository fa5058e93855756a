"""How far a change reaches: what one input still does to an output that comes many positions later.

Learning goes by the same way backwards: where this is near zero, gradients vanish, and what is far away is not learned;
where it grows from position to position, they explode (Bengio et al. 1994; Pascanu et al. 2013, 2.1).

What is measured is the Jacobian J of one output vector y with respect to one input vector x, D numbers wide, as
‖J‖ / sqrt(D), with the Frobenius norm: by how much, in root mean square over all directions, a small change of x is
longer or shorter when it arrives in y. The network is in eval mode; the sentence and its translation are given.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model import data
from model.config import ConfigError
from model.data import Encoded
from model.encoder_decoder import EncoderDecoder
from model.taps import heard

DIRECTIONS = 32  # in which y is watched; of an output of so many numbers, or fewer, it is the whole Jacobian


@dataclass(frozen=True)
class Way:
    """From each of the inputs at one tap to one of the outputs at another."""

    entry: str
    exit: str
    position: int  # of the output: 0 is the first, -1 the last
    nearest: int  # how many positions the last input is before the output


# Positions count in the order of reading: networks without attention read the source backwards.
WAYS = {
    "encoder": Way("encoder.input.embeddings_tap", "encoder.memory_tap", -1, 0),
    "masked": Way("decoder.input.embeddings_tap", "decoder.output_tap", -1, 0),
    "cross": Way("encoder.input.embeddings_tap", "decoder.output_tap", 0, 1),
}


def gains(model: EncoderDecoder, example: Encoded, way: Way, *, directions: int = DIRECTIONS) -> Tensor:
    """‖J‖ / sqrt(D) of every input on this way, the nearest first: (positions,), float64.

    With fewer directions than numbers in y, ‖J‖ is an estimate, right on average of its square.
    """
    source, read, _ = data.tensors([example] * directions)
    inputs, outputs = _ends(model, source, read, way)
    watched = orthonormal(directions, outputs.shape[-1])
    (gradients,) = torch.autograd.grad((outputs[:, way.position] * watched).sum(), inputs)  # (directions, S, D)
    scale = outputs.shape[-1] / directions / inputs.shape[-1]
    return (gradients.double().square().sum(dim=(0, 2)) * scale).sqrt().flip(0)


def _ends(model: EncoderDecoder, source: Tensor, read: Tensor, way: Way) -> tuple[Tensor, Tensor]:
    """What is heard at both ends of the way; the inputs are leaves, by which can be differentiated."""
    seen: dict[str, Tensor] = {}

    def listen(name: str, tensor: Tensor) -> Tensor | None:
        if name == way.exit:
            seen[name] = tensor
        if name != way.entry:
            return None
        seen[name] = tensor.detach().requires_grad_()
        return seen[name]

    heard(listen, model, source, read)
    return seen[way.entry], seen[way.exit]


def orthonormal(directions: int, width: int, *, seed: int = 1) -> Tensor:
    """Directions (directions, width) of length 1, at right angles to one another, the same each time."""
    if directions > width:
        raise ConfigError(f"directions={directions} cannot be at right angles in {width} numbers; choose fewer")
    noise = torch.randn(width, directions, generator=torch.Generator().manual_seed(seed))
    return torch.linalg.qr(noise).Q.T


def curve(model: EncoderDecoder, examples: Sequence[Encoded], way: Way, *, directions: int = DIRECTIONS) -> list[float]:
    """Gain by distance, the geometric mean over the examples, as far as all of them go."""
    found = [gains(model, example, way, directions=directions) for example in examples]
    shortest = min(len(one) for one in found)
    return torch.stack([one[:shortest] for one in found]).log().mean(dim=0).exp().tolist()


def with_radius(model: EncoderDecoder, radius: float) -> EncoderDecoder:
    """A copy of a recurrent model whose recurrent matrices have this spectral radius, their largest |eigenvalue|."""
    made = copy.deepcopy(model)
    for name, parameter in made.named_parameters():
        if "weight_hh" in name:
            with torch.no_grad():
                parameter.mul_(radius / torch.linalg.eigvals(parameter).abs().max())
    return made
