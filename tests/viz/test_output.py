"""Distribution, lens, loss and beam carry to their canvases what the model holds, and their tables say the same."""

from collections.abc import Sequence

import numpy as np
import pytest

from model import writing
from model.beams import CUT, ENDED, Node, Tree
from model.config import NEVER
from model.decode import Decoding
from model.distribution import Settings, sampled
from model.labels import alone
from model.lens import lens, read_out
from model.loss import losses
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from viz import beams, distribution, loss
from viz import lens as lenses
from viz.inside import signed
from viz.payload import texts, unpack
from viz.theme import LIGHT

SETTINGS = Settings(temperature=0.7, top_k=12, top_p=0.9)


@pytest.fixture(scope="module")
def names(tokenizer: Tokenizer) -> Sequence[str]:
    return [alone(tokenizer, piece) for piece in range(len(tokenizer))]


def test_the_browser_gets_every_step_s_whole_distribution(trace: Trace, names: Sequence[str]) -> None:
    header, arrays = unpack(distribution.payload(trace, names, SETTINGS, theme=LIGHT, step=3))
    chances = trace.log_probabilities()
    T, V = chances.shape
    assert arrays["gaps"].shape == (T, V)
    assert header["settings"] == {"temperature": 0.7, "top_k": 12, "top_p": 0.9}
    assert 12 in header["stops"]
    assert header["stops"] == sorted(set(header["stops"]))
    for index, step in enumerate(header["steps"]):
        own = np.exp(step["best"] - arrays["gaps"][index].astype(np.float64))
        np.testing.assert_allclose(own, -np.sort(-np.exp(chances[index])), atol=1e-6)
        assert own.sum() == pytest.approx(1, abs=1e-6)
        best = np.argsort(-chances[index], kind="stable")
        assert step["names"] == [names[i] for i in best[: distribution.SHOWN]]
        written = trace.predicted[index].id
        assert best[step["written"]] == written
        assert step["writes"] == names[written]
        assert sorted(best[step["never"]]) == sorted(NEVER)
        assert step["entropy"] == pytest.approx(trace.entropy()[index])
    assert [step["text"] for step in header["steps"]] == texts(trace.predicted)


def test_a_setting_between_the_slider_s_stops_gets_a_stop(trace: Trace, names: Sequence[str]) -> None:
    header, _ = unpack(distribution.payload(trace, names, Settings(top_k=37), theme=LIGHT, step=1))
    assert 37 in header["stops"]


def test_the_table_of_a_step_sums_to_one_as_it_is_and_as_sampled(trace: Trace, names: Sequence[str]) -> None:
    for step in range(1, len(trace.predicted) + 1):
        table = distribution.table(trace, names, SETTINGS, step)
        assert table["probability"].sum() == pytest.approx(1)
        assert table["sampled with"].sum() == pytest.approx(1)
        assert table["written"].sum() == 1
        own = float(np.exp(trace.target_log_probabilities()[step - 1]))
        assert table.loc[table["written"], "probability"].item() == pytest.approx(own)
        drawn = sampled(trace.log_probabilities()[step - 1 : step], SETTINGS)[0, trace.predicted[step - 1].id]
        assert table.loc[table["written"], "sampled with"].item() == pytest.approx(drawn)


def test_the_parts_of_every_loss_are_there_and_sum_up(trace: Trace, names: Sequence[str]) -> None:
    header, _ = unpack(loss.payload(trace, names, theme=LIGHT, step=1, smoothing=0.2))
    found = losses(trace)
    assert header["vocabulary"] == found.vocabulary == trace.logits.shape[1]
    for index, step in enumerate(header["steps"]):
        assert step["surprise"] == pytest.approx(found.surprise[index])
        assert step["spread"] == pytest.approx(found.spread[index])
        pieces = step["pieces"]
        assert [right for _, _, right in pieces] == [True] + [False] * loss.SHOWN
        assert pieces[0][0] == names[trace.predicted[index].id or 0]
        assert step["others"] + len(pieces) == found.vocabulary
        assert sum(np.exp(one) for _, one, _ in pieces) + step["othersShare"] == pytest.approx(1)
        for smoothing in (0.0, 0.1, 0.6):  # what the browser adds up
            other = smoothing / found.vocabulary
            added = [-((1 - smoothing) * right + other) * logarithm for _, logarithm, right in pieces]
            assert sum(added) - other * step["othersSum"] == pytest.approx(found.at(smoothing)[index])
    table = loss.table(trace, 0.2)
    np.testing.assert_allclose(table["loss with ε = 0.2"], found.at(0.2))


def test_the_lens_has_a_row_for_each_layer_and_a_column_for_each_step(
    trace: Trace, model: Transformer, names: Sequence[str]
) -> None:
    found = lens(trace, read_out(model))
    header, arrays = unpack(lenses.payload(found, trace, names, theme=LIGHT, step=2, layer=1))
    assert arrays["probability"].shape == (3, len(trace.predicted))
    assert header["layers"] == ["before layer 1", "after layer 1", "after layer 2"]
    assert (header["read"], header["written"]) == (texts(trace.read), texts(trace.predicted))
    np.testing.assert_allclose(arrays["probability"][-1], np.exp(trace.target_log_probabilities()), rtol=1e-4)
    assert header["tops"][-1] == [names[i] for i in trace.logits.argmax(axis=1)]
    np.testing.assert_array_equal(arrays["hit"], arrays["rank"] == 1)
    table = lenses.table(found, trace, names)
    assert len(table) == arrays["rank"].size
    assert table["rank of the written"].tolist() == arrays["rank"].T.ravel().tolist()


def test_since_when_the_answer_is_there_is_said_as_the_ranks_have_it(trace: Trace, model: Transformer) -> None:
    found = lens(trace, read_out(model))
    for step, ranks in enumerate(found.rank.T, start=1):
        said = lenses.since(found, trace, step)
        assert trace.predicted[step - 1].text in said
        assert ("even after the last layer" in said) == (ranks[-1] != 1)


@pytest.fixture(scope="module")
def grown(trained: Transformer, tokenizer: Tokenizer) -> Tree:
    return writing.write(trained, tokenizer, tokenizer.encode("Mary draws 25 keys."), Decoding("beam", beam=3))[1]


def test_the_tree_says_of_each_node_what_it_is(grown: Tree) -> None:
    header, _ = unpack(beams.payload(grown, theme=LIGHT, width=3, step=1))
    table = beams.table(grown)
    assert [len(step) for step in header["steps"]] == [len(step) for step in grown]
    assert len(table) == sum(len(step) for step in grown)
    for drawn, nodes in zip(header["steps"], grown, strict=True):
        for one, node in zip(drawn, nodes, strict=True):
            assert (one["text"], one["parent"], one["fate"], one["best"]) == (
                node.text,
                node.parent,
                node.fate,
                node.best,
            )
            shown = node.score if node.fate in (ENDED, CUT) else node.total
            assert one["figure"].endswith(signed(shown))
            assert f"log-probability {signed(node.total)} " in one["said"]
            assert beams.FATES[node.fate] in one["said"]


def test_every_hypothesis_is_counted_with_its_fate(grown: Tree) -> None:
    fates = beams.table(grown)["fate"].value_counts()
    said = beams.summary(grown)
    assert said.startswith(f"{len(grown)} steps, {fates.sum()} hypotheses: ")
    assert all(f"{number} {fate}" in said for fate, number in fates.items())


def test_a_node_is_read_with_its_whole_beginning(grown: Tree) -> None:
    best = [node for step in grown for node in step if node.best]
    said = list(beams.told(grown))[len(best) - 1]
    beginning = ""
    for node in best[:-1]:
        beginning = beams.joined(beginning, node.text)
    place = [node.best for node in grown[len(best) - 1]].index(True)
    assert f"‘{beginning}’ + ‘</s>’" in said[place]


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [("", "Der", "Der"), ("Der", "T", "Der T"), ("Der T", "·ier", "Der Tier"), ("a", "·", "a ·")],
)
def test_pieces_join_into_words(text: str, piece: str, expected: str) -> None:
    assert beams.joined(text, piece) == expected


def test_a_tree_of_one_step_has_no_parents() -> None:
    only: Tree = ((Node("</s>", None, -0.5, -0.5, -0.5, ENDED, True),),)
    header, _ = unpack(beams.payload(only, theme=LIGHT, width=1, step=1))
    assert header["steps"][0][0]["said"].startswith("step 1, rank 1: ‘</s>’: log-probability −0.500")


def test_what_is_written_is_what_the_decoder_writes(trained: Transformer, tokenizer: Tokenizer) -> None:
    source = tokenizer.encode("Mary draws 25 keys.")
    for decoding in (Decoding(), Decoding("sample", seed=4), Decoding("beam", beam=3)):
        found, tree = writing.write(trained, tokenizer, source, decoding)
        assert found.text == tokenizer.decode(found.ids)
        assert bool(tree) == (decoding.method == "beam")
    best = [node for step in tree for node in step if node.best]
    assert best[-1].score == pytest.approx(found.score)
    assert best[-1].total == pytest.approx(found.log_probability)
    assert len(best) == found.pieces
