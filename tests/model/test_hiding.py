"""What is hidden makes no difference to any row behind it; what is not hidden does."""

import pytest
import torch
from torch import Tensor

from model.hiding import Hidden, hiding
from model.taps import heard
from model.transformer import Transformer

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 3]])
TARGET = torch.tensor([[2, 12, 13, 14, 15, 16]])


def logits(model: Transformer, source: Tensor, target: Tensor, hidden: Hidden) -> Tensor:
    found: Tensor = heard(hiding(hidden), model, source, target)[0]
    return found


def changed(ids: Tensor, positions: range) -> Tensor:
    other = ids.clone()
    other[:, positions.start : positions.stop] += 40
    return other


@pytest.mark.parametrize("columns", [range(1, 2), range(2, 4), range(1, 5)])
def test_rows_after_hidden_target_tokens_do_not_depend_on_them(model: Transformer, columns: range) -> None:
    other = changed(TARGET, columns)
    hidden = Hidden(target=columns)
    ours, theirs = (logits(model, SOURCE, target, hidden) for target in (TARGET, other))
    assert torch.equal(ours[columns.stop :], theirs[columns.stop :])
    shown, other_shown = (logits(model, SOURCE, target, Hidden()) for target in (TARGET, other))
    assert not torch.allclose(shown[columns.stop :], other_shown[columns.stop :], atol=1e-3)


def test_rows_up_to_the_hidden_ones_are_as_without_hiding(model: Transformer) -> None:
    columns = range(2, 4)
    plain = model(SOURCE, TARGET)[0]
    found = logits(model, SOURCE, TARGET, Hidden(target=columns))
    assert torch.equal(found[:4], plain[:4])
    assert not torch.allclose(found[4:], plain[4:], atol=1e-3)


def test_nothing_depends_on_hidden_source_tokens(model: Transformer) -> None:
    columns = range(2, 5)
    other = changed(SOURCE, columns)
    ours, theirs = (logits(model, source, TARGET, Hidden(source=columns)) for source in (SOURCE, other))
    assert torch.equal(ours, theirs)
    assert not torch.allclose(model(SOURCE, TARGET), model(other, TARGET), atol=1e-3)


def test_hiding_nothing_changes_nothing(model: Transformer, batch: tuple[Tensor, Tensor]) -> None:
    assert torch.equal(heard(hiding(Hidden()), model, *batch), model(*batch))


def test_both_sides_can_be_hidden_at_once(model: Transformer) -> None:
    hidden = Hidden(range(1, 3), range(3, 4))
    ours = logits(model, SOURCE, TARGET, hidden)
    theirs = logits(model, changed(SOURCE, range(3, 4)), changed(TARGET, range(1, 3)), hidden)
    assert torch.equal(ours[3:], theirs[3:])
