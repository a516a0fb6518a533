"""k-mer tables, metagenomic classification, pre-alignment filtering and read mapping.

>>> import merganser
>>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
>>> len(table), table["CGTTA"]
(3, 2)

Results are Arrow's: Polars, pyarrow, DuckDB and pandas take them as they are; columns of numbers are NumPy's arrays. The program
`merganser` comes with the package.
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
