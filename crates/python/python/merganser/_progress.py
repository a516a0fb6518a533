"""Progress bars in terminals and notebooks."""

from __future__ import annotations

from typing import Any


class Bar:
    """A progress callback that shows a tqdm bar for each stage. Needs the package tqdm."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Shows that `done` of `total` are done."""
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress needs the package tqdm: pip install tqdm") from error

        if self.bar is None or stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = tqdm(total=total, desc=stage, unit_scale=True)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        """Closes the bar."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
