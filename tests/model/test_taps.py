"""Looking changes nothing, leaves nothing behind, and belongs to one call."""

import contextvars
import threading

import pytest
import torch
from torch import Tensor

from model.taps import Tap, heard, tap_names
from model.transformer import Transformer

Batch = tuple[Tensor, Tensor]
MEMORY = "encoder.memory_tap"


def nobody(name: str, tensor: Tensor) -> None:
    """A listener that only looks."""


def test_logits_are_bit_identical_with_and_without_a_listener(model: Transformer, batch: Batch) -> None:
    assert torch.equal(heard(nobody, model, *batch), model(*batch))


def test_logits_are_bit_identical_from_run_to_run(model: Transformer, batch: Batch) -> None:
    assert torch.equal(model(*batch), model(*batch))


def test_a_replacement_is_what_the_rest_of_the_model_sees(model: Transformer, batch: Batch) -> None:
    source, target = batch
    other = torch.randn(6, 11, 20, generator=torch.Generator().manual_seed(1))
    found = heard(lambda name, tensor: other if name == MEMORY else None, model, source, target)
    may_look = model.start(source).source_may_look
    assert torch.equal(found, model.step(target, model.decoder.start(other, may_look))[0])
    assert not torch.equal(found, model(source, target))


def test_a_replacement_of_another_shape_is_refused_with_both_shapes(model: Transformer, batch: Batch) -> None:
    with pytest.raises(ValueError, match=r"encoder\.memory_tap has shape \(6, 11, 20\), its replacement \(6, 20, 11\)"):
        heard(lambda name, tensor: tensor.transpose(1, 2) if name == MEMORY else None, model, *batch)


def test_nothing_is_left_behind_after_an_exception(model: Transformer, batch: Batch) -> None:
    def fails(name: str, tensor: Tensor) -> None:
        heard_names.append(name)
        if name == MEMORY:
            raise RuntimeError("stop")

    heard_names: list[str] = []
    before = model(*batch)
    with pytest.raises(RuntimeError, match="stop"):
        heard(fails, model, *batch)
    so_far = list(heard_names)
    assert torch.equal(model(*batch), before)
    assert heard_names == so_far


def test_an_inner_listener_gives_way_to_the_outer_one_again() -> None:
    tap, seen = Tap(), []
    outer, inner = (lambda name, tensor, who=who: seen.append(who) for who in ("outer", "inner"))

    def call() -> None:
        tap(torch.zeros(1))
        heard(inner, tap, torch.zeros(1))
        tap(torch.zeros(1))

    heard(outer, call)
    assert seen == ["outer", "inner", "outer"]


def test_a_new_thread_starts_without_the_listener_and_a_copied_context_takes_it_along() -> None:
    tap, seen = Tap(), []

    def in_threads() -> None:
        listening = contextvars.copy_context()
        for call in (lambda: tap(torch.zeros(2)), lambda: listening.run(tap, torch.zeros(3))):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()

    heard(lambda name, tensor: seen.append(len(tensor)), in_threads)
    assert seen == [3]


def test_pytorchs_own_forward_hook_works_on_a_tap(model: Transformer, batch: Batch) -> None:
    seen: list[Tensor] = []
    handle = model.get_submodule(MEMORY).register_forward_hook(lambda module, args, output: seen.append(output))
    try:
        model(*batch)
    finally:
        handle.remove()
    assert len(seen) == 1
    assert torch.equal(seen[0], model.encode(batch[0]))


def test_the_name_of_a_tap_is_its_place_in_the_model(model: Transformer) -> None:
    names = tap_names(model)
    assert len(set(names)) == len(names)
    for name in names:
        tap = model.get_submodule(name)
        assert isinstance(tap, Tap)
        assert tap.name == name
    assert "decoder.layers.2.cross_attention.weights_tap" in names
