"""Dropout (Srivastava et al. 2014; Vaswani et al. 2017, 5.4), drawn four numbers at a time.

torch draws one random number for each element, on a CPU one after the other: a twelfth of the time of a training step
here. 16 bits are enough to decide about one element, and one draw has 64.
"""

import torch
from torch import Tensor, nn

LANES = 4  # 16-bit numbers in one draw
RANGE = 2**16


class Dropout(nn.Module):
    """In training, zeroes each element with probability p, to the nearest 1 / 65536, and divides the rest by 1 - p."""

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1 or round(p * RANGE) == RANGE:
            raise ValueError(f"dropout is a probability below 1, to the nearest 1 / {RANGE}, not {p:g}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same shape; x itself outside training."""
        if not self.training or self.p == 0:
            return x
        dropped = round(self.p * RANGE)  # of RANGE
        keep = _lanes(x.shape) >= dropped - RANGE // 2
        return x * keep.to(x.dtype).mul_(RANGE / (RANGE - dropped))

    def extra_repr(self) -> str:
        return f"p={self.p:g}"


def _lanes(shape: torch.Size) -> Tensor:
    """Independent numbers from -32768 to 32767, each as likely as any other. int16, of this shape."""
    size = shape.numel()
    draws = torch.empty(-(-size // LANES), dtype=torch.int64)
    draws.random_(-(2**63), None)  # without bounds the highest bit would always be 0
    return draws.view(torch.int16)[:size].view(shape)
