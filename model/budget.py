"""Training for a given time: how many steps that makes is decided once, when two thirds of it are spent.

No time is ever measured twice alike, so the learning rate must not depend on it, or a resumed run would take another
way. At the step n after two thirds of the time, the run is set to end at step 3n/2, and the rate to fall to zero over
the last n/2. That is kept in the run's folder; with it, or with `--steps 3n/2 --cooldown n/2`, the run repeats itself
bit for bit.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model.whole import replacing

END = "end.json"


class Budget:
    """The CPU seconds that a run's optimizer steps may take, all threads counted, and have taken."""

    def __init__(self, run: Path, seconds: float | None, *, spent: float = 0.0) -> None:
        """seconds: None for no limit. spent: by the run before it was resumed."""
        self.file, self.seconds, self.spent = run / END, seconds, spent

    @contextmanager
    def counting(self) -> Iterator[None]:
        began = time.process_time()
        yield
        self.spent += time.process_time() - began

    def end(self, step: int) -> dict[str, int] | None:
        """`steps` and `cooldown`, if the time says where they are once `step` steps are taken."""
        if self.seconds is None:
            return None
        if not self.file.exists() and step and self.spent >= self.seconds * 2 / 3:
            with replacing(self.file) as part:
                part.write_text(json.dumps({"steps": step + step // 2, "cooldown": step // 2}), encoding="utf-8")
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else None
