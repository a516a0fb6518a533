"""Progress bars in terminals and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Bar:
    """A progress callback that shows a tqdm bar for each stage."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        from tqdm.auto import tqdm

        if self.bar is None or stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = tqdm(total=total, desc=stage, unit="B", unit_scale=True)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


Callback = Callable[[str, int, "int | None"], object]
