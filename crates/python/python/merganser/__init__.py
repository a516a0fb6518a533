"""k-mer tables, metagenomic classification, pre-alignment filtering and read mapping.

>>> import merganser
>>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
>>> len(table), table["CGTTA"]
(3, 2)

Results are Arrow data, which Polars, pyarrow, DuckDB and pandas read directly; columns of numbers are NumPy arrays. The package
contains the program `merganser`.
"""

from merganser._core import (
    Batch,
    Batches,
    Column,
    Database,
    Index,
    Spectrum,
    Table,
    Taken,
    __version__,
    count,
    devices,
    filter,
)
from merganser._errors import ConfigError, Error, InputError
from merganser._progress import Bar

__all__ = [
    "Bar",
    "Batch",
    "Batches",
    "Column",
    "ConfigError",
    "Database",
    "Error",
    "Index",
    "InputError",
    "Spectrum",
    "Table",
    "Taken",
    "__version__",
    "count",
    "devices",
    "filter",
]
