"""The learning rate at each step."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Linear warm-up, then inverse square root (Vaswani et al. 2017, eq. 3) or constant, then linearly to zero."""

    d_model: int
    warmup: int  # steps
    peak: float | None = None  # rate at the end of the warm-up; None: the paper's (d_model * warmup)^-0.5
    shape: str = "paper"  # or "constant"
    steps: int = 100_000  # in all
    cooldown: int = 0  # how many of them, at the end, fall linearly to zero

    def rate(self, step: int) -> float:
        """The rate of step 1, 2, …, steps."""
        peak = self.peak if self.peak is not None else (self.d_model * self.warmup) ** -0.5
        after = 1.0 if self.shape == "constant" else (self.warmup / step) ** 0.5
        rate = peak * min(step / self.warmup, after)
        left = self.steps - step + 1
        return rate * min(1.0, left / self.cooldown) if self.cooldown else rate
