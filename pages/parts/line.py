"""Standing in line: one computation at a time, in the order in which they came, and who waits long is told."""

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

PATIENCE = 1.0  # seconds that somebody waits before being told


class Line:
    """`with line:` computes alone. Unlike a lock it is fair: nobody is overtaken."""

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self._standing: deque[int] = deque()  # threads; the first of them computes

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._moved:
            self._standing.append(me)
            try:
                self._moved.wait_for(lambda: self._standing[0] == me)
            except BaseException:  # whoever stops waiting must not keep the others behind him waiting
                self._standing.remove(me)
                self._moved.notify_all()
                raise

    def __exit__(self, *error: object) -> None:
        with self._moved:
            self._standing.popleft()
            self._moved.notify_all()

    def before(self, thread: int) -> int:
        """How many come before this thread; 0 if it computes, or does not stand here."""
        with self._moved:
            return self._standing.index(thread) if thread in self._standing else 0


@contextmanager
def told(lines: Sequence[Line]) -> Iterator[None]:
    """If this thread has to wait meanwhile, a corner of its page says how many come first."""
    done, me = threading.Event(), threading.get_ident()
    watch = threading.Thread(target=_watch, args=(lines, me, done), daemon=True)
    add_script_run_ctx(watch, get_script_run_ctx())
    watch.start()
    try:
        yield
    finally:
        done.set()


def _watch(lines: Sequence[Line], waiting: int, done: threading.Event) -> None:
    while not done.wait(PATIENCE):
        if before := max(line.before(waiting) for line in lines):
            others = "One computation comes" if before == 1 else f"{before} computations come"
            st.toast(f"{others} before yours: this page goes on by itself.", icon="⏳")
            return
