"""How far a change reaches is the norm of a Jacobian, and what is known of Jacobians holds for it."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from model import data
from model.config import ConfigError, ModelConfig
from model.encoder_decoder import EncoderDecoder
from model.reach import WAYS, Way, curve, gains, orthonormal, with_radius
from model.recurrent import Recurrent, RecurrentConfig
from model.taps import heard
from model.transformer import Transformer

EXAMPLE = ([5, 6, 7, 8, 9, 10, 11], [12, 13, 14, 15])  # with </s> 8 positions are read, with <s> 5


@pytest.fixture(scope="module", params=["rnn", "lstm", "lstm-attention", "transformer"])
def network(request: pytest.FixtureRequest) -> EncoderDecoder:
    if request.param == "transformer":
        build: Callable[..., Transformer] = request.getfixturevalue("build")
        tiny: ModelConfig = request.getfixturevalue("tiny")
        return build(tiny)
    return recurrent(request.param)


def recurrent(architecture: str, *, layers: int = 1) -> Recurrent:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        config = RecurrentConfig(architecture, 347, d_model=20, layers=layers)
        return Recurrent(config).eval().requires_grad_(False)


def brute_force(model: EncoderDecoder, way: Way) -> list[float]:
    """‖J‖ / sqrt(D) of each input by finite differences, the nearest input first."""
    source, read, _ = data.tensors([EXAMPLE])
    double = model.double()
    inputs = heard_at(double, way.entry, source, read)

    def output(changed: Tensor) -> Tensor:
        seen: list[Tensor] = []

        def listen(name: str, tensor: Tensor) -> Tensor | None:
            if name == way.exit:
                seen.append(tensor[0, way.position])
            return changed if name == way.entry else None

        heard(listen, double, source, read)
        return seen[0]

    found = []
    for position in range(inputs.shape[1]):
        columns = []
        for number in range(20):
            change = torch.zeros_like(inputs)
            change[0, position, number] = 1e-5
            columns.append((output(inputs + change) - output(inputs - change)) / 2e-5)
        found.append(float(torch.stack(columns).norm()) / 20**0.5)
    double.float()
    return found[::-1]


def heard_at(model: EncoderDecoder, tap: str, source: Tensor, read: Tensor) -> Tensor:
    seen: dict[str, Tensor] = {}
    heard(lambda name, tensor: seen.update({name: tensor}), model, source, read)
    return seen[tap]


@pytest.mark.parametrize("kind", sorted(WAYS))
def test_the_gain_is_that_of_a_jacobian_made_by_small_changes(network: EncoderDecoder, kind: str) -> None:
    way = WAYS[kind]
    width = heard_at(network, way.exit, *data.tensors([EXAMPLE])[:2]).shape[-1]
    expected = brute_force(network, way)
    found = gains(network, EXAMPLE, way, directions=width).tolist()
    assert len(found) == (5 if kind == "masked" else 8)
    assert found == pytest.approx(expected, rel=2e-3)


def test_fewer_directions_estimate_the_same(network: EncoderDecoder) -> None:
    way = WAYS["cross"]
    whole, half = (gains(network, EXAMPLE, way, directions=n) for n in (20, 10))
    assert not torch.equal(whole, half)
    assert ((half / whole).log().abs() < math.log(1.8)).all()
    assert abs((half / whole).log().mean()) < math.log(1.25), "right on average"


def test_the_way_across_ends_where_nothing_of_the_target_is_read_yet(network: EncoderDecoder) -> None:
    """So its distance counts the tokens of the source that follow, and <s>."""
    one, other = (gains(network, (EXAMPLE[0], target), WAYS["cross"], directions=20) for target in ([12, 13], [14, 15]))
    torch.testing.assert_close(one, other)


def test_a_linear_chain_shrinks_by_its_factor_at_each_step() -> None:
    """With recurrent weights r times the identity and small inputs tanh is linear: gain(d) = gain(0) · r^d."""
    model = recurrent("rnn")
    for name, parameter in model.named_parameters():
        if "weight_hh" in name:
            parameter.copy_(0.7 * torch.eye(20))
        if "weight_ih" in name or "embedding" in name:
            parameter.mul_(1e-3)
        if "bias" in name:
            parameter.zero_()
    found = gains(model, EXAMPLE, WAYS["encoder"], directions=20)
    torch.testing.assert_close(found, found[0] * 0.7 ** torch.arange(8, dtype=torch.float64), rtol=1e-3, atol=0)
    grown = gains(with_radius(model, 1.4), EXAMPLE, WAYS["encoder"], directions=20)
    torch.testing.assert_close(grown, found[0] * 1.4 ** torch.arange(8, dtype=torch.float64), rtol=1e-2, atol=0)


def test_a_spectral_radius_is_set_in_a_copy() -> None:
    model = recurrent("rnn", layers=3)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    made = with_radius(model, 1.75)
    radii = [float(torch.linalg.eigvals(p).abs().max()) for n, p in made.named_parameters() if "weight_hh" in n]
    assert radii == pytest.approx([1.75] * 6, rel=1e-4)
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in before.items())


def test_a_curve_is_the_geometric_mean_as_far_as_all_sentences_go() -> None:
    model, way = recurrent("lstm"), WAYS["encoder"]
    other = (EXAMPLE[0][:4], EXAMPLE[1])
    one, two = gains(model, EXAMPLE, way, directions=20), gains(model, other, way, directions=20)
    assert curve(model, [EXAMPLE, other], way, directions=20) == pytest.approx((one[:5] * two).sqrt().tolist())


def test_directions_are_at_right_angles_and_no_more_than_there_are() -> None:
    made = orthonormal(5, 7)
    torch.testing.assert_close(made @ made.T, torch.eye(5), rtol=0, atol=1e-6)
    with pytest.raises(ConfigError, match="directions=8 cannot be at right angles in 7 numbers"):
        orthonormal(8, 7)


def test_measuring_leaves_no_gradient_behind(network: EncoderDecoder) -> None:
    gains(network, EXAMPLE, WAYS["cross"], directions=3)
    assert all(parameter.grad is None for parameter in network.parameters())
