"""Named tuples of rows."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any


@lru_cache(maxsize=64)
def row_class(names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """Returns the class of rows with these columns."""
    return namedtuple("Row", names, rename=True)


def tuples(row: type[tuple[Any, ...]], columns: tuple[Iterable[Any], ...]) -> Iterator[tuple[Any, ...]]:
    """Returns an iterator over rows, made of their columns."""
    return map(partial(tuple.__new__, row), zip(*columns))
