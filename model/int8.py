"""Weights in a quarter of their size: whole numbers from -127 to 127, and a scale for each row of a matrix.

A matrix `name` is stored as int8 with its scales (bfloat16, which goes as low as float32) beside it as `name.scale`;
what is no matrix (biases, LayerNorm) as float16. A number that comes back is off by at most half a step: half its row's
scale.
"""

import torch
from torch import Tensor

LARGEST = 127
SCALE = ".scale"


class Int8Error(ValueError):
    """Stored tensors that do not belong together; the message says which."""


def quantised(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """What is stored for these weights."""
    stored: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if tensor.dim() == 2:
            stored[name], stored[name + SCALE] = _rounded(tensor.float())
        else:
            stored[name] = tensor.half()
    return stored


def _rounded(matrix: Tensor) -> tuple[Tensor, Tensor]:
    scales = (matrix.abs().amax(dim=1) / LARGEST).bfloat16()  # (rows,), rounded before it is divided by
    steps = matrix / scales.float().clamp_min(torch.finfo(torch.float32).tiny)[:, None]  # a row of zeros stays one
    return steps.round().to(torch.int8), scales


def restored(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights, int8 back to float32; a state that holds no int8 is returned as it is.

    Raises Int8Error if an int8 tensor has no scales, or not one a row.
    """
    whole = {name for name, tensor in stored.items() if tensor.dtype == torch.int8}
    scales = {name + SCALE for name in whole}
    return {
        name: _scaled(name, tensor, stored.get(name + SCALE)) if name in whole else tensor
        for name, tensor in stored.items()
        if name not in scales
    }


def _scaled(name: str, steps: Tensor, scales: Tensor | None) -> Tensor:
    if scales is None:
        raise Int8Error(f"{name} is int8, but there is no tensor {name}{SCALE} to scale it by")
    if steps.dim() != 2 or scales.shape != steps.shape[:1]:
        shapes = f"{tuple(steps.shape)} and {tuple(scales.shape)}"
        raise Int8Error(f"{name} and {name}{SCALE} have shapes {shapes}; a scale for each row of a matrix is needed")
    return steps.float() * scales.float()[:, None]
