"""The page Architecture: the drawing carries this sentence's shapes, and its doors lead where its boxes say."""

import pytest

from model.capture import capture
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from pages.parts.boxes import DOORS
from tests.pages.visitor import PAGES, ROOT, SENTENCE, Visitor
from viz import network


@pytest.fixture(scope="module")
def trace(loaded: tuple[Transformer, Tokenizer]) -> Trace:
    return capture(*loaded, SENTENCE)


def test_the_drawing_is_of_this_sentence(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("architecture")
    header, _ = visitor.canvas("network")
    T, S, K = trace.shape
    assert header["sizes"] == {"S": S, "T": T, "D": 20, "H": 5, "K": K, "F": 37, "V": 347}
    assert header["layers"] == {"encoder": 3, "decoder": 2}
    assert header["said"] == network.said(trace)["whole"]


@pytest.mark.parametrize("flow", list(network.FLOW))
def test_the_steps_of_the_flow_are_in_the_address(visitor: Visitor, trace: Trace, flow: str) -> None:
    visitor.follow("architecture")
    visitor.choose("flow", flow)
    assert visitor.address == {"sentence": SENTENCE} | ({} if flow == "whole" else {"flow": flow})
    header, _ = visitor.canvas("network")
    assert (header["flow"], header["said"]) == (flow, network.said(trace)[flow])


def test_every_box_has_a_door_and_every_door_that_is_drawn_leads_to_a_page(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("architecture")
    header, _ = visitor.canvas("network")
    assert {box["name"] for box in header["boxes"]} <= set(DOORS)
    for box in header["boxes"]:
        if box["door"]:
            assert DOORS[box["name"]].page in {str(path.relative_to(ROOT)) for path in PAGES.values()}
            assert box["door"] == DOORS[box["name"]].title
    labels = {link.proto.label for link in visitor.app.get("page_link")}
    assert {f"{box['door']} →" for box in header["boxes"] if box["door"]} <= labels


def test_links_carry_the_whole_address_and_let_go_of_another_kind_s_head(visitor: Visitor) -> None:
    visitor.follow("architecture", kind="masked", layer="2", head="3", query="2", key="1", scale="linear")
    links = {link.proto.label: link.proto.query_string for link in visitor.app.get("page_link")}
    assert "scale=linear" in links["cross heads →"]
    assert "kind=cross" in links["cross heads →"]
    for name in ("layer", "head", "query", "key"):
        assert f"{name}=" not in links["cross heads →"].replace("cross_", "")


def test_the_table_says_the_same_and_its_parameters_sum_up(visitor: Visitor) -> None:
    visitor.follow("architecture")
    visitor.choose("as_table", True)
    boxes, parameters = (frame.value for frame in visitor.app.dataframe)
    assert boxes["leaves it"].tolist() == [box["out"] for box in visitor.canvas("network")[0]["boxes"]]
    assert parameters["parameters"].iloc[:-1].sum() == parameters["parameters"].iloc[-1]
