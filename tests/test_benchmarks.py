"""Benchmarks measure what they say: their arithmetic, and that what they compare is the same thing."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks import ctranslate, drawing, load, peers, texts, told, training
from benchmarks.clock import interleaved, median, percentile, ratio
from benchmarks.decoding import Forced, decoding
from benchmarks.told import Bar
from model.config import EOS, PAD, ModelConfig
from model.decode import beam_search, decode
from model.tokenizer import Tokenizer
from model.trace import Array, AttentionMap
from model.transformer import Transformer
from tests.conftest import random_model
from viz import payload
from viz.theme import LIGHT


def test_calls_take_turns_and_the_first_rounds_do_not_count() -> None:
    said: list[str] = []
    calls = {"one": lambda: said.append("one"), "other": lambda: said.append("other")}
    times = interleaved(calls, rounds=3, warm=2)
    assert said == ["one", "other"] * 5
    assert {name: len(taken) for name, taken in times.items()} == {"one": 3, "other": 3}


def test_a_ratio_compares_each_round_with_itself() -> None:
    times = {"slow": [2.0, 50.0, 3.0], "fast": [1.0, 10.0, 1.0]}
    assert ratio(times, "slow", "fast") == 3.0  # of 2, 5 and 3
    assert median(times, "slow") == 3.0


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 10.0), (0.51, 11.0), (0.95, 19.0), (1.0, 20.0)])
def test_a_percentile_is_one_of_the_values(share: float, expected: float) -> None:
    assert percentile([float(n) for n in range(20, 0, -1)], share) == expected


def test_a_bar_is_kept_on_the_right_side_and_a_missed_one_is_said() -> None:
    assert Bar("a", 1.0, 1.0, at_most=True).kept
    assert not Bar("a", 1.1, 1.0, at_most=True).kept
    assert Bar("a", 1.1, 1.0, at_most=False).kept
    assert Bar("a", 0.9, 1.0, at_most=False).sentence() == "a: 0.90, bar ≥ 1: MISSED"


def test_results_are_told_as_one_json_object_or_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows, bars = [{"page": "heads", "ms": 1234}, {"page": "x", "ms": 0.5}], [Bar("ms", 0.5, 1, at_most=True)]
    told.tell("pages", rows, bars, as_json=True, threads=1)
    said = json.loads(capsys.readouterr().out)
    assert said["pages"] == rows
    assert (said["bars"][0]["kept"], said["threads"]) == (True, 1)
    told.tell("pages", rows, bars, as_json=False, threads=1)
    assert capsys.readouterr().out.splitlines() == [
        "page      ms",
        "heads  1,234",
        "x        0.5",
        "ms: 0.50, bar ≤ 1: kept",
        "threads: 1",
    ]


def test_a_peer_that_is_absent_is_named_with_where_to_read_how_to_install_it() -> None:
    with pytest.raises(peers.MissingError, match=r"no_such_peer is not installed.*benchmarks/README\.md"):
        peers.peer("no_such_peer")


def test_the_sentences_to_measure_with_all_differ() -> None:
    every = list(texts.sentences())
    assert len(every) == len(set(every)) >= 500
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in every)


def test_a_forced_model_writes_so_many_pieces_whatever_it_would_rather_do(model: Transformer) -> None:
    source = torch.tensor([[5, 6, 7, 8, EOS], [9, 10, 11, EOS, PAD]])
    for beam in (1, 3):
        found = decode(Forced(model, 7), source, decoding(beam))
        assert [len(one.ids) for one in found] == [7, 7]
        assert all(one.ended for one in found)
        assert all(EOS not in one.ids for one in found)


def test_the_peer_of_the_training_loop_is_the_same_network(tiny: ModelConfig, batch: tuple[Tensor, Tensor]) -> None:
    """With our weights in it, torch.nn.Transformer answers as ours does."""
    ours, peer = random_model(tiny).eval(), training.Peer(tiny).eval()
    fill_peer(peer, ours)
    source, target = batch
    expected = ours(source, target)
    found = peer(source, target)
    real = target != PAD
    torch.testing.assert_close(found[real], expected[real], rtol=1e-4, atol=1e-4)


def fill_peer(peer: training.Peer, ours: Transformer) -> None:
    peer.embedding.load_state_dict(ours.embedding.state_dict())
    for side in ("encoder", "decoder"):
        layers = getattr(ours, side).layers.values()
        for there, here in zip(getattr(peer.inner, side).layers, layers, strict=True):
            pairs = [(there.self_attn, here.self_attention, here.self_attention_residual)]
            if side == "decoder":
                pairs.append((there.multihead_attn, here.cross_attention, here.cross_attention_residual))
            norms = [residual for _, _, residual in pairs] + [here.feed_forward_residual]
            for put, attention, _ in pairs:
                projections = (attention.query, attention.key, attention.value)
                put.in_proj_weight.data = torch.cat([one.weight.data for one in projections])
                put.in_proj_bias.data = torch.cat([one.bias.data for one in projections])
                put.out_proj.load_state_dict(attention.output.state_dict())
            there.linear1.load_state_dict(here.feed_forward.hidden.state_dict())
            there.linear2.load_state_dict(here.feed_forward.output.state_dict())
            for number, residual in enumerate(norms, start=1):
                getattr(there, f"norm{number}").load_state_dict(residual.norm.state_dict())


def test_the_operations_of_a_product_are_counted() -> None:
    one, other = torch.randn(3, 5), torch.randn(5, 7)
    assert training.operations(lambda: one @ other) == 2 * 3 * 5 * 7


def test_a_share_is_of_the_rate_measured_in_the_same_round() -> None:
    rate = 20 * training.SIDE**3  # operations in one call of products alone
    times = {"ours": [2.0, 20.0, 2.0], "products": [1.0, 2.0, 1.0]}  # shares of 0.5, 0.1 and 0.2
    assert training.share(times, [rate, rate, 2 * rate // 5], "ours") == pytest.approx(0.2)


def test_bertviz_is_given_its_scripts_from_beside_its_page() -> None:
    d3, require = "https://example.org/x/d3/5.7.0/d3.min", "//example.org/x/require.js/2.3.6/require.min.js"
    html = f"<script src='{require}'></script> {{ d3: '{d3}', y: '//example.org/y' }}"
    assert drawing.served_beside(html, "here") == (
        "<script src='/here/requirejs/require.js'></script> { d3: '/here/d3/dist/d3.min', y: '//example.org/y' }"
    )


def test_bertviz_loses_its_duplicate_and_nothing_else() -> None:
    html = "<script>\nconst params = {1}; // HACK: {1} is a template marker.\ndraw();\n</script>"
    assert drawing.without_duplicate(html) == "<script>\nconst params = {1}; \ndraw();\n</script>"


def test_every_tensor_of_ours_has_its_place_in_the_converted_model(model: Transformer) -> None:
    spec = Places()
    layers = {"encoder": model.config.encoder_layers, "decoder": model.config.decoder_layers}
    for side, depth in layers.items():
        getattr(spec, side).layer = [Places() for _ in range(depth)]
    ctranslate.fill(spec, model)
    placed = sum(array.size for array in arrays(spec))
    table, positions = model.embedding.weight.numel(), model.encoder.input.positions.numel()
    assert (
        placed == sum(p.numel() for p in model.parameters()) + 2 * table + 2 * positions
    )  # the table stands in three places


def grid_of(weights: Array) -> bytes:
    names = [[str(n) for n in range(size)] for size in weights.shape]
    shown = AttentionMap.of(weights, *names, predicts=names[0], kind="cross")
    return payload.grid([shown], theme=LIGHT, opened=0, pinned=None, linear=True, per_row=1, captions=["1"])


@pytest.mark.parametrize(
    ("shift", "said"),
    [(0, ""), (1, ""), (2, "other numbers in headlight_grid, shades0"), (200, "other numbers in headlight_grid")],
)
def test_thumbnails_may_differ_by_one_shade_and_no_more(shift: int, said: str) -> None:
    levels = np.arange(6, dtype=np.float32).reshape(2, 3)  # one shade further, all are written otherwise
    one, other = (grid_of((levels + by) / 255) for by in (0, shift))
    found = load.difference([("headlight_grid", one)], [("headlight_grid", other)])
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_what_somebody_was_shown_is_compared_number_by_number() -> None:
    weights = np.float32([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
    alone = ("headlight_head", payload.pack({"sentence": "a"}, {"weights": weights}))
    for changed, said in (
        ({"weights": weights + np.float32(9e-6)}, ""),
        ({"weights": weights + np.float32(2e-5)}, "other numbers in headlight_head, weights"),
        ({"weights": weights.T}, "other sizes in headlight_head, weights"),
        ({"weights": weights + np.float32(np.nan)}, "other numbers in headlight_head, weights"),
        ({"other": weights}, "another header of headlight_head"),
    ):
        shown = ("headlight_head", payload.pack({"sentence": "a"}, changed))
        assert load.difference([shown], [alone]) == said
    mine = ("headlight_head", payload.pack({"sentence": "b"}, {"weights": weights}))
    assert load.difference([mine], [alone]) == "another header of headlight_head"
    assert load.difference([], [alone]).startswith("canvases [] instead of")


class Places:
    """Has every attribute and every item that is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Places()
        setattr(self, name, made)
        return made

    def __getitem__(self, at: int) -> Any:
        return getattr(self, f"item{at}")


def arrays(place: Any) -> list[np.ndarray]:
    if isinstance(place, np.ndarray):
        return [place]
    inside = place if isinstance(place, list) else list(vars(place).values())
    return [array for one in inside for array in arrays(one)]


@pytest.mark.skipif(
    importlib.util.find_spec("ctranslate2") is None, reason="ctranslate2 is in benchmarks/requirements.txt"
)
def test_the_converted_model_writes_the_same_translations(
    trained: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    ctranslate.convert(trained, tokenizer, tmp_path / "converted")
    fast = ctranslate.Translator(tmp_path / "converted", tokenizer, threads=1)
    sources = [
        tokenizer.encode(text) for text in ("The old man sees a house.", "A woman reads.", "The trees are green.")
    ]
    for beam in (1, 4):
        ours = [beam_search(trained, torch.tensor([[*ids, EOS]]), decoding(beam))[0][0].ids for ids in sources]
        assert [tuple(ids) for ids in fast.translate(sources, beam=beam)] == ours
