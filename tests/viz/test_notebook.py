"""A picture in a notebook is a page of its own, in a frame that keeps it there."""

import re
from html import unescape
from pathlib import Path

import numpy as np

from model.trace import AttentionMap, Trace
from tests.thumbnails import painted, wanted
from viz import notebook
from viz.payload import unpack
from viz.theme import DARK


def message(page: str) -> bytes:
    import base64

    found = re.search(r'id="payload">([^<]*)</script>', page)
    assert found
    return base64.b64decode(found[1])


def test_a_head_is_drawn_with_its_weights_and_its_pin(trace: Trace) -> None:
    shown = trace.map("cross", 2, 3)
    drawn = notebook.head(shown, theme=DARK, pinned=(2, 1))
    header, arrays = unpack(message(drawn.page))
    np.testing.assert_array_equal(arrays["weights"], shown.weights.astype(np.float32))
    assert (header["pinned"], header["theme"]["name"]) == ([1, 0], "dark")


def test_heads_of_several_kinds_are_drawn_in_order(trace: Trace) -> None:
    maps = [trace.map("encoder", 3, 5), trace.map("masked", 1, 2)]
    header, arrays = unpack(message(notebook.heads(maps).page))
    assert [(h["kind"], h["layer"], h["head"]) for h in header["heads"]] == [("encoder", 3, 5), ("masked", 1, 2)]
    for index, shown in enumerate(maps):
        np.testing.assert_array_equal(painted(header, arrays, index), wanted(shown))


def test_anyones_weights_can_be_drawn_and_their_labels_stay_text() -> None:
    label = "</script><b>x"
    drawn = notebook.head(AttentionMap.of(np.eye(2), [label, "b"]))
    assert unpack(message(drawn.page))[0]["map"]["rows"] == [label, "b"]
    assert drawn.page.count("</script>") == 2


def test_the_frame_holds_the_whole_page_and_cannot_reach_out(trace: Trace, tmp_path: Path) -> None:
    drawn = notebook.head(trace.map("encoder", 1, 1))
    frame = drawn._repr_html_()
    held = re.search(r'srcdoc="([^"]*)"', frame)
    assert held
    assert unescape(held[1]) == drawn.page
    assert "allow-same-origin" not in frame
    drawn.save(tmp_path / "head.html")
    assert (tmp_path / "head.html").read_text(encoding="utf-8") == drawn.page
