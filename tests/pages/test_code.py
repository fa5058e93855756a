"""The view as code computes the very numbers that the page shows: its lines are run, and compared to the digit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import checkpoint
from model.config import NEVER
from model.decode import Decoding, sampling_distribution
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array
from model.transformer import Transformer
from tests.pages.visitor import Visitor
from viz import versus
from viz.payload import unpack

Loaded = tuple[Transformer, Tokenizer]
Names = dict[str, Any]
OTHER = "My sister doesn't hear the house."
EDITS = "mean-cross-2.3,uniform-encoder-1.2"
SEEN = {"units": "words", "special": "renormalised"}


@pytest.fixture(autouse=True)
def shipped(weights: Path, loaded: Loaded) -> Iterator[None]:
    """Whoever copies the lines loads the model of the app; in these tests it is another one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "load", lambda folder=weights: loaded)
        patch.setattr(checkpoint, "WEIGHTS", weights)
        yield


def ran(visitor: Visitor, page: str, **address: str) -> Names:
    """What the lines of this view leave behind."""
    visitor.follow(page, **address)
    assert not visitor.app.exception
    assert visitor.notes == []
    (lines,) = [block.value for block in visitor.app.code]
    names: Names = {}
    exec(compile(lines, "copied", "exec"), names)
    return names


def pictures(visitor: Visitor, name: str) -> list[tuple[dict[str, Any], dict[str, Array]]]:
    found = [c.proto for c in visitor.app.get("bidi_component") if c.proto.component_name == f"headlight_{name}"]
    return [unpack(proto.bytes) for proto in found]


def same(drawn: Array, computed: Array) -> None:
    """To the last digit of what is drawn, which is float32."""
    np.testing.assert_array_equal(drawn, np.asarray(computed).astype(np.float32))


@pytest.mark.parametrize(
    "address",
    [
        {"removed": "least", "kind": "encoder", "layer": "3", "head": "2"},
        {"edits": EDITS, "kind": "cross", "layer": "2", "head": "4", "measure": "value", "tool": "silence", **SEEN},
        {"edits": "lift_mask", "kind": "masked", "layer": "1", "head": "1", "tool": "silence", "measure": "rollout"},
        {"edits": EDITS, "target": "Der Mann hört Bäume.", "instead": "mean", "layer": "1", "head": "5", **SEEN},
    ],
)
def test_surgery(visitor: Visitor, address: dict[str, str]) -> None:
    names = ran(visitor, "surgery", **address)
    steps = visitor.canvas("shift")[0]["steps"]
    assert [step["moved"] for step in steps] == names["moved"].moved[: len(steps)].tolist()
    assert [step["after"] for step in steps] == np.exp(names["moved"].after)[: len(steps)].tolist()
    same(visitor.canvas("surgery")[1]["values"].flatten(), names["cost"])
    same(visitor.canvas("head")[1]["weights"], names["opened"].weights)
    if "removed" in address:
        ((_, arrays),) = pictures(visitor, "curves")
        same(arrays["y0"][1:], names["together"])


@pytest.mark.parametrize(
    "address",
    [
        {"other": OTHER, "kind": "cross", "layer": "2", "head": "4"},
        {"other": OTHER, "kind": "masked", "layer": "1", "head": "2", "measure": "value", "edits": EDITS, **SEEN},
        {"other": OTHER, "layer": "3", "head": "2", "measure": "rollout", "query": "1", "special": "hidden"},
        {"against": "translation", "target": "Der Mann hört Bäume.", "kind": "cross", "layer": "1", "head": "1"},
        {"against": "decoder", "beam": "3", "kind": "masked", "layer": "2", "head": "5", "query": "1", **SEEN},
        {"against": "edits", "edits": EDITS, "kind": "cross", "layer": "2", "head": "3"},
        {"against": "edits", "edits": "silence-cross-1.2", "kind": "encoder", "measure": "value"},
        {"against": "decoder", "measure": "rollout", "kind": "masked"},
        {"layer": "1", "head": "1"},
    ],
)
def test_compare(visitor: Visitor, address: dict[str, str]) -> None:
    names = ran(visitor, "compare", **address)
    (_, moved), (_, change) = pictures(visitor, "field")
    heads = moved["values"].shape[1]
    found = np.concatenate([names["moved"][kind].reshape(-1, heads) for kind in KINDS])
    counted = moved.get("allowed", np.ones_like(found, dtype=np.uint8)) == 1
    same(moved["values"][counted], found[counted])
    same(change["values"], np.where(names["change"].shared, names["change"].values, 0))
    for (_, drawn), computed in zip(pictures(visitor, "head"), names["pair"], strict=True):
        same(drawn["weights"], computed.weights)
    assert len(versus.table(names["change"], *names["pair"])) == len(change["values"])


@pytest.mark.parametrize("residual", ["on", "off", "everywhere", "skipped"])
@pytest.mark.parametrize("seen", [{}, {"edits": EDITS, **SEEN}], ids=["as trained", "edited, over words"])
def test_layers(visitor: Visitor, residual: str, seen: dict[str, str]) -> None:
    here = {"side": "decoder", "position": "3", "sublayer": "5", "quantity": "length"}
    names = ran(visitor, "layers", residual=residual, **here, **seen)
    same(pictures(visitor, "field")[0][1]["values"], names["values"].T)
    if residual != "on":
        row = pictures(visitor, "field")[0][0]["pinned"][0]
        same(pictures(visitor, "curves")[1][1]["y0"], names["left"][:, row])
    assert ("left" in names) == (residual != "on")


@pytest.mark.parametrize(
    "address",
    [
        {},
        {"cross_heads": "one", "cross_head": "4", "cross_layer": "1", "by": "norm", "rows": "read", **SEEN},
        {"by": "norm", "units": "words", "edits": EDITS, "target": "Der Mann hört Bäume."},
    ],
)
def test_alignment(visitor: Visitor, address: dict[str, str]) -> None:
    names = ran(visitor, "alignment", **address)
    header, arrays = visitor.canvas("alignment")
    same(arrays["strength"], names["strength"])
    assert header["found"] == [link.source for link in names["links"]]
    same(pictures(visitor, "field")[0][1]["values"], names["cells"])


@pytest.mark.parametrize("measure", ["raw", "value", "rollout"])
def test_maps(visitor: Visitor, measure: str) -> None:
    here = {"kind": "masked", "layer": "2", "head": "3", "measure": measure}
    names = ran(visitor, "heads", **here, **SEEN)
    same(visitor.canvas("head")[1]["weights"], names["opened"].weights)
    assert len(names["maps"]) == len(visitor.canvas("grid")[0]["heads"])
    names = ran(visitor, "masked_vs_cross", **here, cross_layer="1", cross_head="4", mask="lifted", edits=EDITS)
    for kind in ("masked", "cross"):
        same(visitor.canvas("pair")[1][f"{kind}_weights"], names[kind].weights)


@pytest.mark.parametrize("seen", [{}, {"edits": EDITS}, {"edits": EDITS, "mask": "lifted"}, {**SEEN, "heads": "mean"}])
@pytest.mark.parametrize("padding", ["none", "padded"])
@pytest.mark.parametrize("stage", ["scores", "moved", "softmax"])
def test_masked_vs_cross_padded_and_at_every_stage(
    visitor: Visitor, stage: str, padding: str, seen: dict[str, str]
) -> None:
    here = {"layer": "2", "head": "3", "cross_layer": "1", "cross_head": "4", "stage": stage, "padding": padding}
    names = ran(visitor, "masked_vs_cross", **here, **seen)
    arrays = visitor.canvas("pair")[1]
    for kind, values in zip(("masked", "cross"), names.get("values", (None, None)), strict=True):
        same(arrays[f"{kind}_weights"], names[kind].weights)
        if values is not None:
            same(arrays[f"{kind}_shown"], values)
    assert ("values" in names) == (stage != "softmax" and "heads" not in seen)


def test_output_as_it_is_sampled(visitor: Visitor) -> None:
    names = ran(visitor, "output", step="3", temperature="1.9", top_k="5", top_p="0.9", decoder="sample")
    allowed = torch.tensor(names["trace"].log_probabilities()[2:3])
    allowed[:, list(NEVER)] = -torch.inf
    expected = sampling_distribution(allowed, Decoding("sample", temperature=1.9, top_k=5, top_p=0.9))
    np.testing.assert_allclose(names["drawn"], expected[0], atol=1e-12)


def test_positions(visitor: Visitor) -> None:
    names = ran(visitor, "positions", length="20", width="12", shift="3")
    near = pictures(visitor, "field")[1][1]["values"]
    np.testing.assert_allclose(near[0], names["cosines_by_distance"], atol=1e-6)
    assert names["turned_by"].shape == (6, 2, 2)
    angle = 3.0  # of the fastest frequency, one radian a position
    np.testing.assert_allclose(names["turned_by"][0], [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


@pytest.mark.parametrize("seen", [{}, SEEN], ids=["pieces", "words"])
def test_inside_a_head_and_tokens(visitor: Visitor, seen: dict[str, str]) -> None:
    here = {"kind": "cross", "layer": "2", "head": "3", "query": "2", "key": "3"}
    names = ran(visitor, "inside_a_head", **here, **seen)
    header, arrays = visitor.canvas("inside")
    same(arrays["query"], names["query"])
    np.testing.assert_allclose(arrays["scores"][header["column"]], names["score"], rtol=1e-5)
    np.testing.assert_allclose(arrays["weights"][header["column"]], names["weight"], rtol=1e-5)
    visitor.follow("tokens", side="decoder", **seen)
    (lines,) = [block.value for block in visitor.app.code]
    *before, last = lines.splitlines()
    found: Names = {}
    exec("\n".join([*before, f"value = {last}"]), found)
    same(pictures(visitor, "field")[0][1]["values"], found["value"])
