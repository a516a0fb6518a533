"""k-mer tables, classification, host removal, filtering, read mapping, search for patterns and assembly evaluation.

>>> import merganser
>>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
>>> len(table), table["CGTTA"]
(3, 2)

Sequences are bytes or arrays; a str or a path names a file (`search` also takes letters as str). Results are Arrow data,
which Polars, pyarrow, DuckDB and pandas read directly; columns of numbers are NumPy arrays. The package contains the
program `merganser`.
"""

from merganser._core import (
    REJECTED,
    UNDEFINED,
    Column,
    Database,
    Index,
    MinimizerSet,
    Report,
    Rows,
    RowStream,
    Spectrum,
    Table,
    __version__,
    amplicons,
    count,
    decode_kmers,
    devices,
    encode_kmers,
    extract,
    filter,
    matrix,
    qv,
    search,
    search_counts,
    search_to,
)
from merganser._errors import (
    ArgumentError,
    DeviceError,
    Error,
    FileNotFound,
    InputError,
    InternalError,
    MemoryLimitError,
    OutputError,
    ResultWarning,
)
from merganser._progress import Bar

__all__ = [
    "REJECTED",
    "UNDEFINED",
    "ArgumentError",
    "Bar",
    "Column",
    "Database",
    "DeviceError",
    "Error",
    "FileNotFound",
    "Index",
    "InputError",
    "InternalError",
    "MemoryLimitError",
    "MinimizerSet",
    "OutputError",
    "Report",
    "ResultWarning",
    "RowStream",
    "Rows",
    "Spectrum",
    "Table",
    "__version__",
    "amplicons",
    "count",
    "decode_kmers",
    "devices",
    "encode_kmers",
    "extract",
    "filter",
    "matrix",
    "qv",
    "search",
    "search_counts",
    "search_to",
]
