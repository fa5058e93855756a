"""A tap: a named place in the model where a tensor can be seen, and replaced, without changing the model."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from torch import Tensor, nn

Listener = Callable[[str, Tensor], Tensor | None]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# The listener belongs to one call, not to the model: threads that share a model each see only their own sentence.
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class Tap(nn.Module):
    """Returns its input. Shows it first to the current listener, which may return a replacement of the same shape."""

    name = ""  # the module path, given by name_taps

    def forward(self, tensor: Tensor) -> Tensor:
        listener = _listener.get()
        if listener is None:
            return tensor
        replacement = listener(self.name, tensor)
        if replacement is None:
            return tensor
        if replacement.shape != tensor.shape:
            raise ValueError(f"{self.name} has shape {tuple(tensor.shape)}, its replacement {tuple(replacement.shape)}")
        return replacement


def name_taps(model: nn.Module) -> None:
    """Give each tap in `model` its module path as its name."""
    for path, module in model.named_modules():
        if isinstance(module, Tap):
            module.name = path


def tap_names(model: nn.Module) -> list[str]:
    """The names of all taps, in the order in which the modules were built."""
    return [module.name for module in model.modules() if isinstance(module, Tap)]


def heard(
    listener: Listener, call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run `call` with `listener` at every tap. Nothing is left behind, not even after an exception.

    A new thread starts without the listener; start it with `contextvars.copy_context().run` to take it along.
    """
    token = _listener.set(listener)
    try:
        return call(*args, **kwargs)
    finally:
        _listener.reset(token)
