"""Every captured tensor follows from the ones before it, and the whole network is PyTorch's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.config import MAX_POSITIONS, PAD, ModelConfig
from model.taps import heard, tap_names
from model.transformer import Residual, Transformer, sinusoids

B, S, T, H, K, D, FF, V = 6, 11, 8, 5, 4, 20, 37, 347
Batch = tuple[Tensor, Tensor]
KINDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "GELU": {"activation": "gelu"},
    "pre-norm": {"norm": "pre"},
    "learned positions": {"positions": "learned"},
    "all of them, other depths": {
        "activation": "gelu",
        "norm": "pre",
        "positions": "learned",
        "encoder_layers": 1,
        "decoder_layers": 4,
    },
}


@dataclass(frozen=True)
class Run:
    """A model and what all its taps showed in one call."""

    model: Transformer
    source: Tensor
    target: Tensor
    seen: dict[str, Tensor]
    order: list[str]
    logits: Tensor

    def linear(self, path: str, x: Tensor) -> Tensor:
        """The linear map at `path`, in float64."""
        module = self.model.get_submodule(path)
        assert isinstance(module, nn.Linear)
        return F.linear(x.double(), module.weight.double(), module.bias.double())

    def norm(self, path: str, x: Tensor) -> Tensor:
        module = self.model.get_submodule(path)
        assert isinstance(module, nn.LayerNorm)
        return F.layer_norm(x.double(), x.shape[-1:], module.weight.double(), module.bias.double(), 1e-5)

    def residuals(self, side: str) -> list[str]:
        """Paths of the residuals of one side, in the order in which the stream passes them."""
        return [name for name, module in self.model.named_modules() if isinstance(module, Residual) and side in name]

    def sublayers(self, side: str) -> Iterator[tuple[str, Tensor, Tensor]]:
        """Each sub-layer's path, the stream before it, and what the sub-layer reads."""
        x = self.seen[f"{side}.input.sum_tap"]
        for residual in self.residuals(side):
            path = residual.removesuffix("_residual")
            if self.model.config.norm == "pre":
                yield path, x, self.seen[f"{residual}.norm_tap"]
                x = self.seen[f"{residual}.residual_tap"]
            else:
                yield path, x, x
                x = self.seen[f"{residual}.norm_tap"]


@pytest.fixture(scope="module", params=list(KINDS.values()), ids=list(KINDS))
def run(request: pytest.FixtureRequest, build: Callable[..., Transformer], tiny: ModelConfig, batch: Batch) -> Run:
    model = build(replace(tiny, **request.param))
    seen: dict[str, Tensor] = {}
    order: list[str] = []

    def listen(name: str, tensor: Tensor) -> None:
        order.append(name)
        seen[name] = tensor

    return Run(model, *batch, seen, order, heard(listen, model, *batch))


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found.double(), expected.double(), rtol=1e-5, atol=1e-6)


def heads(x: Tensor) -> Tensor:
    """(B, T, D) -> (B, H, T, K), written without reshape: head h has columns h K to (h + 1) K."""
    return torch.stack(x.split(K, dim=-1), dim=1)


def test_every_tap_fires_exactly_once_in_a_forward_call(run: Run) -> None:
    assert sorted(run.order) == sorted(tap_names(run.model))


def test_each_side_has_the_layers_of_its_own_depth_counted_from_one(run: Run) -> None:
    config = run.model.config
    assert list(run.model.encoder.layers) == [str(n + 1) for n in range(config.encoder_layers)]
    assert list(run.model.decoder.layers) == [str(n + 1) for n in range(config.decoder_layers)]
    assert config.encoder_layers != config.decoder_layers


def test_every_tap_has_the_shape_that_its_line_says(run: Run) -> None:
    for name, tensor in run.seen.items():
        length = S if name.startswith("encoder") else T
        looked_at = S if "cross" in name or name.startswith("encoder") else T
        expected = {
            "embeddings_tap": (B, length, D),
            "positions_tap": (1, length, D),
            "queries_tap": (B, H, length, K),
            "keys_tap": (B, H, looked_at, K),
            "values_tap": (B, H, looked_at, K),
            "scores_tap": (B, H, length, looked_at),
            "weights_tap": (B, H, length, looked_at),
            "may_look_tap": (B, 1, length if "decoder" in name and "self" in name else 1, looked_at),
            "head_outputs_tap": (B, H, length, K),
            "hidden_tap": (B, length, FF),
            "active_tap": (B, length, FF),
            "logits_tap": (B, T, V),
        }.get(name.split(".")[-1], (B, length, D))
        assert tensor.shape == expected, name


def test_the_input_is_embeddings_times_root_d_plus_positions(run: Run) -> None:
    for side, ids in (("encoder", run.source), ("decoder", run.target)):
        inside = f"{side}.input."
        close(run.seen[inside + "embeddings_tap"], run.model.embedding.weight.double()[ids] * D**0.5)
        table = run.model.get_submodule(f"{side}.input").positions
        assert isinstance(table, Tensor)
        positions = table[: ids.shape[1]]
        assert torch.equal(run.seen[inside + "positions_tap"][0], positions)
        close(run.seen[inside + "sum_tap"], run.seen[inside + "embeddings_tap"].double() + positions)


def test_residual_is_input_plus_output_and_the_norm_stands_where_it_should(run: Run) -> None:
    for side in ("encoder", "decoder"):
        for path, x, _ in run.sublayers(side):
            output, residual, norm = (run.seen[f"{path}_residual.{t}_tap"] for t in ("output", "residual", "norm"))
            close(residual, x.double() + output)
            close(norm, run.norm(f"{path}_residual.norm", x if run.model.config.norm == "pre" else residual))


def test_scores_weights_and_head_outputs_follow_from_queries_keys_and_values(run: Run) -> None:
    for name in tap_names(run.model):
        if not name.endswith("queries_tap"):
            continue
        names = ("queries", "keys", "values", "scores", "may_look", "weights", "head_outputs")
        q, k, v, scores, may_look, weights, mixed = (run.seen[name.replace("queries", n)] for n in names)
        close(scores, torch.einsum("bhtk,bhsk->bhts", q.double(), k.double()) / K**0.5)
        close(weights, scores.double().masked_fill(~may_look, -torch.inf).softmax(dim=-1))
        close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
        assert (weights[~may_look.expand_as(weights)] == 0).all()
        close(mixed, torch.einsum("bhts,bhsk->bhtk", weights.double(), v.double()))


def test_queries_keys_and_values_are_linear_in_what_the_sublayer_reads(run: Run) -> None:
    for side in ("encoder", "decoder"):
        for path, _, read in run.sublayers(side):
            if path.endswith("attention"):
                looked_at = run.seen["encoder.memory_tap"] if "cross" in path else read
                close(run.seen[f"{path}.queries_tap"], heads(run.linear(f"{path}.query", read)))
                close(run.seen[f"{path}.keys_tap"], heads(run.linear(f"{path}.key", looked_at)))
                close(run.seen[f"{path}.values_tap"], heads(run.linear(f"{path}.value", looked_at)))
                side_by_side = torch.cat(run.seen[f"{path}.head_outputs_tap"].unbind(dim=1), dim=-1)
                close(run.seen[f"{path}_residual.output_tap"], run.linear(f"{path}.output", side_by_side))


def test_feed_forward_is_two_linear_maps_and_the_activation_of_the_configuration(run: Run) -> None:
    activations: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}
    for side in ("encoder", "decoder"):
        for path, _, read in run.sublayers(side):
            if path.endswith("feed_forward"):
                hidden, active = run.seen[f"{path}.hidden_tap"], run.seen[f"{path}.active_tap"]
                close(hidden, run.linear(f"{path}.hidden", read))
                close(active, activations[run.model.config.activation](hidden.double()))
                close(run.seen[f"{path}_residual.output_tap"], run.linear(f"{path}.output", active))


def test_memory_and_decoder_output_are_the_end_of_the_stream_normalised_once(run: Run) -> None:
    for side, name in (("encoder", "encoder.memory_tap"), ("decoder", "decoder.output_tap")):
        last = run.residuals(side)[-1]
        if run.model.config.norm == "pre":
            close(run.seen[name], run.norm(f"{side}.final_norm", run.seen[f"{last}.residual_tap"]))
        else:
            assert torch.equal(run.seen[name], run.seen[f"{last}.norm_tap"])


def test_logits_are_the_output_times_the_embedding(run: Run) -> None:
    expected = run.seen["decoder.output_tap"].double() @ run.model.embedding.weight.double().T
    close(run.seen["logits_tap"], expected)
    assert torch.equal(run.logits, run.seen["logits_tap"])


def test_step_by_step_equals_all_at_once(run: Run) -> None:
    expected = run.logits.double().log_softmax(dim=-1)
    for sizes in ([1] * T, [3, 1, 4], [1, 7]):
        state, found = run.model.start(run.source), []
        for piece in run.target.split(sizes, dim=1):
            logits, state = run.model.step(piece, state)
            found.append(logits)
        assert state.length == T
        # Padding is only masked in the first step of several; up to each sentence's end that makes no difference.
        real = run.target != PAD
        torch.testing.assert_close(
            torch.cat(found, dim=1).double().log_softmax(dim=-1)[real], expected[real], rtol=0, atol=1e-5
        )


def test_the_whole_network_equals_pytorchs_layers(run: Run) -> None:
    """nn.TransformerEncoderLayer and DecoderLayer with our weights, in float64."""
    config = run.model.config
    options: dict[str, Any] = {"dropout": 0.0, "activation": config.activation, "norm_first": config.norm == "pre"}
    options |= {"batch_first": True, "dtype": torch.float64}
    memory, output = (run.seen[f"{side}.input.sum_tap"].double() for side in ("encoder", "decoder"))
    padding, future = run.source == PAD, torch.ones(T, T, dtype=torch.bool).triu(1)
    for ours in run.model.encoder.layers.values():
        encoder_layer = nn.TransformerEncoderLayer(D, H, FF, **options)
        encoder_layer.load_state_dict(in_pytorchs_names(ours))
        memory = encoder_layer(memory, src_key_padding_mask=padding)
    memory = run.norm("encoder.final_norm", memory) if config.norm == "pre" else memory
    for ours in run.model.decoder.layers.values():
        decoder_layer = nn.TransformerDecoderLayer(D, H, FF, **options)
        decoder_layer.load_state_dict(in_pytorchs_names(ours))
        output = decoder_layer(output, memory, tgt_mask=future, memory_key_padding_mask=padding)
    output = run.norm("decoder.final_norm", output) if config.norm == "pre" else output
    real = run.target != PAD
    close(run.seen["encoder.memory_tap"][~padding], memory[~padding].detach())
    close(run.seen["decoder.output_tap"][real], output[real].detach())


def in_pytorchs_names(ours: nn.Module) -> dict[str, Tensor]:
    """The weights of one of our layers under the names that PyTorch's layer gives them."""
    state, theirs = ours.state_dict(), {}
    norms = [name for name in state if name.endswith("norm.weight")]  # in the order of the sub-layers
    for end in ("weight", "bias"):
        for name, path in (("self_attn", "self_attention"), ("multihead_attn", "cross_attention")):
            if f"{path}.query.{end}" in state:
                three = [state[f"{path}.{part}.{end}"] for part in ("query", "key", "value")]
                theirs[f"{name}.in_proj_{end}"] = torch.cat(three)
                theirs[f"{name}.out_proj.{end}"] = state[f"{path}.output.{end}"]
        theirs[f"linear1.{end}"], theirs[f"linear2.{end}"] = (
            state[f"feed_forward.{part}.{end}"] for part in ("hidden", "output")
        )
        for number, norm in enumerate(norms, start=1):
            theirs[f"norm{number}.{end}"] = state[norm.removesuffix("weight") + end]
    return theirs


def test_positions_are_the_formula_of_the_paper() -> None:
    found = sinusoids(9, 20)
    for position in range(9):
        for i in range(10):
            angle = torch.tensor(position / 10000 ** (2 * i / 20), dtype=torch.float64)
            close(found[position, 2 * i], angle.sin())
            close(found[position, 2 * i + 1], angle.cos())


def test_positions_of_width_four_are_the_table_computed_by_hand() -> None:
    by_hand = [
        [0.0, 1.0, 0.0, 1.0],
        [0.841471, 0.540302, 0.010000, 0.999950],
        [0.909297, -0.416147, 0.019999, 0.999800],
        [0.141120, -0.989992, 0.029996, 0.999550],
    ]
    torch.testing.assert_close(sinusoids(4, 4), torch.tensor(by_hand), rtol=0, atol=1e-6)


def test_the_tied_matrix_is_stored_once_and_sinusoids_not_at_all(model: Transformer) -> None:
    state = model.state_dict()
    assert [name for name, tensor in state.items() if V in tensor.shape] == ["embedding.weight"]
    assert not [name for name in state if "positions" in name]


def test_learned_positions_are_stored_for_each_side(build: Callable[..., Transformer], tiny: ModelConfig) -> None:
    state = build(replace(tiny, positions="learned")).state_dict()
    stored = {name: tuple(tensor.shape) for name, tensor in state.items() if "positions" in name}
    assert stored == {f"{side}.input.positions": (MAX_POSITIONS, D) for side in ("encoder", "decoder")}


def test_a_sentence_beyond_the_last_position_is_refused_with_both_numbers(model: Transformer) -> None:
    with pytest.raises(ValueError, match="258 positions asked for, 257 are there"):
        model.encode(torch.full((1, 258), 5))
    state = replace(model.start(torch.tensor([[5, 3]])), length=257)
    with pytest.raises(ValueError, match="258 positions asked for"):
        model.step(torch.tensor([[5]]), state)


def test_dropout_acts_in_training_only(tiny: ModelConfig, batch: Batch) -> None:
    torch.manual_seed(1)
    model = Transformer(tiny, dropout=0.5)
    assert not torch.equal(model(*batch), model(*batch))
    model.eval()
    assert torch.equal(model(*batch), model(*batch))
