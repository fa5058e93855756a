"""Tokens out of sight: a listener that keeps attention off some positions, to see what is known without them.

Between positions information moves through attention only. So what no other row may look at, in any layer, no other
row can know of, except that a token stands there: positions behind it are numbered as before.
"""

from dataclasses import dataclass

from torch import Tensor

from model.taps import Listener


@dataclass(frozen=True)
class Hidden:
    """Columns (from 0, <s> and </s> counted, without gaps) that are hidden in every head of every layer.

    target: from each row after the last of them. The rows in the range still see one another, but nobody sees them.
    source: from every row of the encoder, and of cross-attention. A token still knows itself, by the residual path.
    """

    target: range = range(0)
    source: range = range(0)


def hiding(hidden: Hidden) -> Listener:
    """A listener that hides these columns for one call, of one sentence or of many with these positions in common."""

    def listen(name: str, tensor: Tensor) -> Tensor | None:
        if not name.endswith(".may_look_tap"):
            return None
        changed = tensor.clone()  # (B or 1, 1, T or 1, S)
        if name.startswith("decoder.") and ".self_attention." in name:
            changed[:, :, hidden.target.stop :, hidden.target.start : hidden.target.stop] = False
        else:
            changed[..., hidden.source.start : hidden.source.stop] = False
        return changed

    return listen
