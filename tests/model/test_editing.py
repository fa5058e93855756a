"""Each edit is what its name says, as an identity between captured tensors; rows of one batch are edited apart."""

from copy import deepcopy

import pytest
import torch
from torch import Tensor

from model.config import PAD
from model.editing import edited, edited_rows
from model.editlist import parsed
from model.edits import Edit, EditError, Silence
from model.taps import heard
from model.trace import KINDS
from model.transformer import Transformer
from model.what_if import head_means

Batch = tuple[Tensor, Tensor]  # source (6, 11), target (6, 8), both with padding; 5 heads of width 4
H, K = 5, 4
PLACES = {
    "encoder": "encoder.layers.2.self_attention",
    "masked": "decoder.layers.2.self_attention",
    "cross": "decoder.layers.2.cross_attention",
}
# One edit of each sort, and the first tap at which it changes anything. Row 3 is there in every sentence of the batch.
FIRST = {
    "silence-encoder-2.4": "encoder.layers.2.self_attention.head_outputs_tap",
    "silence-masked-1.2": "decoder.layers.1.self_attention.head_outputs_tap",
    "mean-cross-2.3": "decoder.layers.2.cross_attention.head_outputs_tap",
    "uniform-encoder-3.5": "encoder.layers.3.self_attention.weights_tap",
    "uniform-masked-2.1": "decoder.layers.2.self_attention.weights_tap",
    "only-cross-1.4": "decoder.layers.1.cross_attention.head_outputs_tap",
    "cell-encoder-1.3-2.3-0.7": "encoder.layers.1.self_attention.weights_tap",
    "cell-masked-2.3-2.1-0.9": "decoder.layers.2.self_attention.weights_tap",
    "cell-cross-2.3-2.3-0.2": "decoder.layers.2.cross_attention.weights_tap",
    "row-cross-1.3-2.3": "decoder.layers.1.cross_attention.weights_tap",
    "row-masked-1.3-2": "decoder.layers.1.self_attention.weights_tap",
    "lift_mask": "decoder.layers.1.self_attention.may_look_tap",
    "no_positions-encoder": "encoder.input.positions_tap",
    "no_positions-decoder": "decoder.input.positions_tap",
    "no_scaling-masked-2": "decoder.layers.2.self_attention.scores_tap",
    "skip-cross-2": "decoder.layers.2.cross_attention_residual.output_tap",
    "skip-encoder_feed_forward-1": "encoder.layers.1.feed_forward_residual.output_tap",
    "no_residual-encoder-2": "encoder.layers.2.self_attention_residual.residual_tap",
    "no_residual-decoder_feed_forward-1": "decoder.layers.1.feed_forward_residual.residual_tap",
}
EACH = pytest.mark.parametrize("written", FIRST)


@pytest.fixture(scope="module")
def means(model: Transformer, batch: Batch) -> dict[str, Tensor]:
    return head_means(model, *batch)


@pytest.fixture(scope="module")
def plain(model: Transformer, batch: Batch) -> dict[str, Tensor]:
    return everything(model, batch)


def everything(
    model: Transformer, batch: Batch, *edits: Edit, means: dict[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """All tensors of one pass in the order in which they were heard, as they come out of the edits."""
    kept: dict[str, Tensor] = {}
    heard(edited(edits, then=kept.__setitem__, means=means), model, *batch)
    return kept


@EACH
def test_an_edit_acts_first_where_it_says_and_reaches_the_end(
    model: Transformer, batch: Batch, plain: dict[str, Tensor], means: dict[str, Tensor], written: str
) -> None:
    found = everything(model, batch, *parsed(written), means=means)
    assert list(found) == list(plain)
    changed = [name for name in plain if not torch.equal(plain[name], found[name])]
    assert changed[0] == FIRST[written]
    assert changed[-1] == "logits_tap"


@EACH
def test_what_an_edit_shows_is_what_the_model_goes_on_with(model: Transformer, batch: Batch, written: str) -> None:
    """The weights that are shown mix the values that are shown, whatever was done to them."""
    found = everything(model, batch, *parsed(written), means=head_means(model, *batch))
    for place in PLACES.values():
        weights, values = found[f"{place}.weights_tap"], found[f"{place}.values_tap"]
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
        assert (weights[~found[f"{place}.may_look_tap"].expand_as(weights)] == 0).all()
        edits_outputs = written.startswith(("silence", "mean", "only"))
        if not edits_outputs:
            torch.testing.assert_close(weights @ values, found[f"{place}.head_outputs_tap"])


@pytest.mark.parametrize("kind", KINDS)
def test_silencing_a_head_is_zeroing_its_slice_of_the_output_projection(
    model: Transformer, batch: Batch, kind: str
) -> None:
    other = deepcopy(model)
    other.attention(kind, 2).output.weight[:, 3 * K : 4 * K] = 0
    silenced = heard(edited(parsed(f"silence-{kind}-2.4")), model, *batch)
    torch.testing.assert_close(silenced, other(*batch), rtol=1e-5, atol=1e-5)
    assert (silenced - model(*batch)).abs().max() > 1e-2


@pytest.mark.parametrize("kind", KINDS)
def test_only_one_head_is_silencing_the_others(model: Transformer, batch: Batch, kind: str) -> None:
    others = parsed(",".join(f"silence-{kind}-2.{head}" for head in (1, 2, 4, 5)))
    alone = heard(edited(parsed(f"only-{kind}-2.3")), model, *batch)
    assert torch.equal(alone, heard(edited(others), model, *batch))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mean_is_taken_over_the_positions_of_the_sentence_without_padding(
    model: Transformer, batch: Batch, plain: dict[str, Tensor], means: dict[str, Tensor], kind: str
) -> None:
    name = f"{PLACES[kind]}.head_outputs_tap"
    found = everything(model, batch, *parsed(f"mean-{kind}-2.4"), means=means)[name]
    for row, ids in enumerate(batch[0] if kind == "encoder" else batch[1]):
        expected = plain[name][row, 3, : int((ids != PAD).sum())].mean(dim=0)  # (K,)
        torch.testing.assert_close(found[row, 3], expected.expand_as(found[row, 3]))
    others = [head for head in range(H) if head != 3]
    assert torch.equal(found[:, others], plain[name][:, others])


def test_a_mean_without_means_is_refused_before_anything_is_run() -> None:
    with pytest.raises(EditError, match="needs the means of the unedited run"):
        edited((Silence("encoder", 1, 1, "mean"),))


@pytest.mark.parametrize("kind", KINDS)
def test_a_uniform_head_puts_out_the_mean_of_the_values_it_may_look_at(
    model: Transformer, batch: Batch, kind: str
) -> None:
    found = everything(model, batch, *parsed(f"uniform-{kind}-2.4"))
    values, outputs = (found[f"{PLACES[kind]}.{what}_tap"][:, 3] for what in ("values", "head_outputs"))
    source, target = batch
    for sentence, ids in enumerate(target if kind == "masked" else source):
        real = int((ids != PAD).sum())
        for row in range(outputs.shape[1]):
            may_look = min(row + 1, real) if kind == "masked" else real
            torch.testing.assert_close(outputs[sentence, row], values[sentence, :may_look].mean(dim=0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_cell_has_its_weight_and_the_rest_of_its_row_keeps_its_proportions(
    model: Transformer, batch: Batch, plain: dict[str, Tensor], kind: str
) -> None:
    name = f"{PLACES[kind]}.weights_tap"
    before, after = plain[name], everything(model, batch, *parsed(f"cell-{kind}-2.4-3.2-0.7"))[name]
    row, rest = after[1, 3, 2], [column for column in range(after.shape[-1]) if column != 1]
    assert row[1] == pytest.approx(0.7)
    torch.testing.assert_close(row[rest], before[1, 3, 2, rest] * 0.3 / (1 - before[1, 3, 2, 1]))
    mine = torch.zeros_like(after, dtype=torch.bool)
    mine[:, 3, 2] = True
    assert torch.equal(after[~mine], before[~mine])


def test_what_is_left_is_spread_evenly_where_the_rest_of_a_row_holds_nothing(model: Transformer, batch: Batch) -> None:
    name = f"{PLACES['masked']}.weights_tap"
    row = everything(model, batch, *parsed("row-masked-2.4-5.2,cell-masked-2.4-5.2-0.4"))[name][0, 3, 4]
    torch.testing.assert_close(row, torch.tensor([0.15, 0.4, 0.15, 0.15, 0.15, 0, 0, 0]))


def test_edits_of_one_row_act_one_after_the_other(model: Transformer, batch: Batch, plain: dict[str, Tensor]) -> None:
    name = f"{PLACES['cross']}.weights_tap"
    found = everything(model, batch, *parsed("cell-cross-2.4-2.1-0.5,cell-cross-2.4-2.3-0.8"))[name]
    before, row = plain[name][0, 3, 1], found[0, 3, 1]
    third = before[2] * 0.5 / (1 - before[0])  # what the first edit leaves of it, and the second changes
    torch.testing.assert_close(row[[0, 2]], torch.stack([0.5 * 0.2 / (1 - third), torch.tensor(0.8)]))
    assert float(row.sum()) == pytest.approx(1)


@pytest.mark.parametrize("tool", ["cell-{}-2.4-{}-0.5", "row-{}-2.4-{}"])
@pytest.mark.parametrize(
    ("kind", "cell", "why"),
    [
        ("masked", "2.6", "the future"),
        ("cross", "2.9", "padding in the fourth sentence"),
        ("cross", "2.99", "beyond the sentence"),
        ("encoder", "99.1", "beyond the sentence"),
    ],
)
def test_a_cell_that_is_not_there_or_forbidden_stays_as_it_is(
    model: Transformer, batch: Batch, plain: dict[str, Tensor], tool: str, kind: str, cell: str, why: str
) -> None:
    name = f"{PLACES[kind]}.weights_tap"
    found = everything(model, batch, *parsed(tool.format(kind, cell)))[name]
    assert torch.equal(found[3], plain[name][3]), why


def test_the_first_row_of_masked_attention_has_no_choice(
    model: Transformer, batch: Batch, plain: dict[str, Tensor]
) -> None:
    name = f"{PLACES['masked']}.weights_tap"
    found = everything(model, batch, *parsed("cell-masked-2.4-1.1-0.5"))[name]
    assert torch.equal(found, plain[name])


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_without_positions_the_embeddings_stand_alone(model: Transformer, batch: Batch, side: str) -> None:
    found = everything(model, batch, *parsed(f"no_positions-{side}"))
    assert not found[f"{side}.input.positions_tap"].any()
    assert torch.equal(found[f"{side}.input.sum_tap"], found[f"{side}.input.embeddings_tap"])


@pytest.mark.parametrize("kind", KINDS)
def test_without_scaling_a_score_is_query_times_key(model: Transformer, batch: Batch, kind: str) -> None:
    found = everything(model, batch, *parsed(f"no_scaling-{kind}-2"))
    queries, keys, scores = (found[f"{PLACES[kind]}.{what}_tap"] for what in ("queries", "keys", "scores"))
    torch.testing.assert_close(scores, queries @ keys.transpose(-2, -1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("sublayer", "before"),
    [("cross", "self_attention_residual.norm_tap"), ("decoder_feed_forward", "cross_attention_residual.norm_tap")],
)
def test_a_sublayer_left_out_adds_nothing_and_without_residual_path_nothing_else_goes_on(
    model: Transformer, batch: Batch, sublayer: str, before: str
) -> None:
    place = {"cross": "cross_attention", "decoder_feed_forward": "feed_forward"}[sublayer]
    inside = f"decoder.layers.2.{place}_residual"
    found = everything(model, batch, *parsed(f"skip-{sublayer}-2"))
    assert torch.equal(found[f"{inside}.residual_tap"], found[f"decoder.layers.2.{before}"])
    found = everything(model, batch, *parsed(f"no_residual-{sublayer}-2"))
    assert torch.equal(found[f"{inside}.residual_tap"], found[f"{inside}.output_tap"])
    assert found[f"{inside}.output_tap"].any()


@EACH
def test_each_row_of_a_batch_is_edited_by_its_own_list_only(model: Transformer, batch: Batch, written: str) -> None:
    source, target = batch[0][:1].expand(4, -1), batch[1][:1].expand(4, -1)
    means = head_means(model, source[:1], target[:1])
    edit, other = parsed(written), parsed("silence-cross-1.1,no_positions-encoder,skip-masked-1")
    found = heard(edited_rows([(), edit, other, (*edit, *other)], means=means), model, source, target)
    alone = [heard(edited(e, means=means), model, *batch)[0] for e in ((), edit, other, (*edit, *other))]
    for row, expected in enumerate(alone):
        torch.testing.assert_close(found[row], expected, rtol=1e-5, atol=1e-5)
    assert all((found[0] - found[row]).abs().max() > 1e-3 for row in (1, 2, 3))


def test_lists_without_edits_change_no_bit(model: Transformer, batch: Batch) -> None:
    assert torch.equal(heard(edited_rows([()] * 6), model, *batch), model(*batch))


def test_there_must_be_as_many_rows_as_lists(model: Transformer, batch: Batch) -> None:
    with pytest.raises(ValueError, match="2 lists of edits need as many rows, but encoder"):
        heard(edited_rows([(), parsed("silence-encoder-1.1")]), model, *batch)


def test_an_edit_builds_on_what_an_earlier_tap_s_edit_has_made(model: Transformer, batch: Batch) -> None:
    found = everything(model, batch, *parsed("uniform-masked-2.4,lift_mask,skip-cross-1,no_residual-cross-1"))
    torch.testing.assert_close(found[f"{PLACES['masked']}.weights_tap"][0, 3], torch.full((8, 8), 1 / 8))
    assert not found["decoder.layers.1.cross_attention_residual.residual_tap"].any()


def test_one_listener_may_serve_several_sentences(model: Transformer, batch: Batch) -> None:
    edits = parsed("cell-encoder-1.3-2.3-0.7")
    listener = edited(edits)

    def write_three(source: Tensor) -> None:
        state = model.start(source)
        for piece in (1, 2, 3):
            _, state = model.step(torch.full((6, 1), piece), state)

    heard(listener, write_three, batch[0])
    again = heard(listener, model.encode, batch[0])
    assert torch.equal(again, heard(edited(edits), model.encode, batch[0]))
