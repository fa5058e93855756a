"""Who came first computes first, alone, and who waits long is told how many come first."""

import threading
import time
from contextlib import ExitStack

import pytest
import streamlit as st

from pages.parts import line, session
from pages.parts.line import Line
from tests.pages.visitor import Visitor


def standing(queue: Line, count: int) -> None:
    """Wait until so many stand in line."""
    end = time.monotonic() + 60
    while len(queue._standing) < count:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_nobody_is_overtaken_and_one_computes_at_a_time() -> None:
    queue, order, inside = Line(), [], []

    def compute(number: int) -> None:
        with queue:
            inside.append(number)
            order.append((number, len(inside)))
            time.sleep(0.005)
            inside.remove(number)

    threads = [threading.Thread(target=compute, args=(number,)) for number in range(12)]
    with queue:
        for number, thread in enumerate(threads):
            thread.start()
            standing(queue, number + 2)
        assert [queue.before(thread.ident or 0) for thread in threads] == list(range(1, 13))
    for thread in threads:
        thread.join(60)
    assert order == [(number, 1) for number in range(12)]
    assert queue.before(threads[0].ident or 0) == 0


def test_an_error_lets_the_next_one_in() -> None:
    queue = Line()
    with pytest.raises(KeyError), queue:
        raise KeyError
    with queue:
        assert queue.before(threading.get_ident()) == 0


def test_who_stops_waiting_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Line()

    def give_up(*_: object) -> None:
        raise KeyboardInterrupt

    def wait() -> None:
        with pytest.raises(KeyboardInterrupt), queue:
            pass

    with queue:
        monkeypatch.setattr(queue._moved, "wait", give_up)
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join(60)
        monkeypatch.undo()
        assert list(queue._standing) == [threading.get_ident()]
    with queue:
        pass


@pytest.mark.parametrize("others", [0, 1, 3])
def test_who_waits_long_is_told_how_many_come_first(others: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(line, "PATIENCE", 0.02)
    monkeypatch.setattr(st, "toast", lambda text, icon: said.append(text))
    queue, free = Line(), threading.Event()

    def hold() -> None:
        with queue:
            free.wait(60)

    def wait() -> None:
        with line.told([Line(), queue]), queue:
            time.sleep(0.1)

    threads = [threading.Thread(target=hold) for _ in range(others)]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        standing(queue, number)
    waiting = threading.Thread(target=wait)
    waiting.start()
    end = time.monotonic() + 60
    while others and not said and time.monotonic() < end:
        time.sleep(0.005)
    free.set()
    for thread in (*threads, waiting):
        thread.join(60)
    expected = {0: [], 1: ["One computation comes"], 3: ["3 computations come"]}[others]
    assert said == [f"{text} before yours: this page goes on by itself." for text in expected]


def test_a_sentence_does_not_wait_for_a_long_computation(visitor: Visitor) -> None:
    """Nor does a page whose numbers are there already."""
    with session.long_queue():
        visitor.follow("translate", sentence="The old man draws my sister.")
        assert visitor.translation


def test_a_page_that_is_shown_answers_while_others_compute(visitor: Visitor) -> None:
    visitor.follow("heads")
    with ExitStack() as busy:
        busy.enter_context(session.queue())
        busy.enter_context(session.long_queue())
        visitor.choose("scale", "linear")
        visitor.choose("layer", 2)
    assert visitor.state("layer") == 2
    assert visitor.canvases()
