from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, final, overload

import pandas
import polars
import pyarrow

__version__: str

REJECTED: int
UNDEFINED: int

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _NumpyArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class _Count(NamedTuple):
    kmer: str
    count: int

_Path: TypeAlias = str | PathLike[str]
_Paths: TypeAlias = _Path | Iterable[_Path]
_Arrow: TypeAlias = _ArrowArray | _ArrowStream
_Sequences: TypeAlias = Iterable[bytes] | _Arrow | _NumpyArray
_Reads: TypeAlias = _Paths | _Sequences
_Kmers: TypeAlias = Iterable[str | bytes] | _Arrow | _NumpyArray
_Edits: TypeAlias = int | str
_Memory: TypeAlias = int | str
_Progress: TypeAlias = bool | Callable[[str, int, int | None], object]
_Counts: TypeAlias = Literal["min", "max", "sum", "diff", "left", "right"]
_Format: TypeAlias = Literal["mgk", "kmc", "kff", "tsv", "fasta", "jellyfish"]

@final
class Rows:
    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object) -> bool: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def _repr_html_(self) -> str: ...

@final
class Column:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def tolist(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class RowStream:
    @property
    def columns(self) -> list[str]: ...
    def __iter__(self) -> Iterator[Rows]: ...
    def __next__(self) -> Rows: ...
    def read_all(self) -> Rows: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Table:
    @staticmethod
    def open(
        path: _Path,
        *,
        forward_only: bool = False,
        hpc: bool = False,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table: ...
    def save(
        self,
        path: _Path,
        format: _Format | None = None,
        *,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Table: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @property
    def k(self) -> int: ...
    @property
    def canonical(self) -> bool: ...
    @property
    def path(self) -> PathLike[str] | None: ...
    @property
    def info(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __contains__(self, kmer: str | bytes | tuple[str | bytes, int]) -> bool: ...
    def __getitem__(self, kmer: str | bytes) -> int: ...
    @overload
    def get(self, kmer: str | bytes, default: int = 0) -> int: ...
    @overload
    def get(self, kmer: str | bytes, default: None) -> int | None: ...
    def query(self, kmers: _Kmers, *, threads: int | None = None, memory: _Memory | None = None) -> Any: ...
    def histogram(self) -> Rows: ...
    def spectrum(
        self,
        ploidy: int = 2,
        coverage: float | None = None,
        *,
        topology: int = 0,
        max_count: int | None = None,
        exclude_above: int | None = None,
    ) -> Spectrum: ...
    def batches(self, size: int = 65536, kmers: Literal["str", "int"] = "str") -> RowStream: ...
    def __iter__(self) -> Iterator[_Count]: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def union(
        self,
        *others: Table,
        counts: _Counts | None = None,
        output: _Path | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table: ...
    def intersect(
        self,
        *others: Table,
        counts: _Counts | None = None,
        output: _Path | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table: ...
    def subtract(
        self,
        *others: Table,
        output: _Path | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table: ...
    def reduce(
        self,
        min_count: int = 1,
        max_count: int | None = None,
        *,
        output: _Path | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table: ...
    def jaccard(
        self,
        other: Table,
        *,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> float: ...
    def __or__(self, other: Table) -> Table: ...
    def __and__(self, other: Table) -> Table: ...
    def __sub__(self, other: Table) -> Table: ...
    def _repr_html_(self) -> str: ...

@final
class Spectrum:
    @property
    def k(self) -> int: ...
    @property
    def ploidy(self) -> int: ...
    @property
    def genome_size(self) -> float: ...
    @property
    def unique_size(self) -> float: ...
    @property
    def heterozygosity(self) -> float: ...
    @property
    def coverage(self) -> float: ...
    @property
    def error_rate(self) -> float | None: ...
    @property
    def explained(self) -> float: ...
    @property
    def doubts(self) -> list[str]: ...
    @property
    def expected(self) -> list[float]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def svg(self) -> str: ...
    def _repr_html_(self) -> str: ...

@final
class Database:
    """A database of reference genomes (.mgdb) for classifying reads. Threads may share it."""
    @staticmethod
    def open(path: _Path) -> Database:
        """Opens a database. Its file is mapped into memory and read on demand."""
    @staticmethod
    def build(
        genomes: Sequence[_Path],
        taxonomy: _Path,
        *,
        output: _Path | None = None,
        map: Sequence[_Path] | None = None,
        preset: Literal["sensitive", "metacache"] = "sensitive",
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> Database:
        """Builds a database from genomes.

        Args:
            genomes: FASTA files, folders of them, or libraries made by `merganser db`.
            taxonomy: A folder with nodes.dmp and names.dmp from NCBI, or with the files of GTDB.
            output: The file (.mgdb); None to keep the database in memory.
            map: Files that map sequence IDs or assemblies to taxids.
            preset: "sensitive", or "metacache" for the parameters and the rule of MetaCache.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.
        """
    @property
    def path(self) -> PathLike[str] | None:
        """The file of the database; None if it is in memory."""
    @property
    def info(self) -> dict[str, Any]:
        """A summary of the database: k, preset, sequences, left_out, features, bytes, parts."""
    def classify(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        interleaved: bool = False,
        any_names: bool = False,
        confidence: float = 0.0,
        hitmin: int | None = None,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
    ) -> RowStream:
        """Classifies reads, in the order of the input.

        Args:
            reads: Files or sequences, as for `count`.
            mates: The second mates, the same number of files or sequences as `reads`.
            interleaved: First and second mates alternate in `reads`.
            any_names: Pair mates by position, even if their names differ.
            confidence: The minimum fraction of a read's features that must be in the clade of its taxon, 0 to 1.
            hitmin: The minimum number of hits of the best candidate.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.

        Returns:
            An iterator of `Batch`, which also exports `__arrow_c_stream__`. Columns: `read` (its name; for a sequence
            its number, from 1), `taxid` (uint32, 0 for unclassified), `name` (of the taxon, null for unclassified)
            and `length` (bases, "a|b" for a pair). Batches are made while earlier ones are consumed. Deleting the
            iterator ends the run.
        """
    def classify_to(
        self,
        output: _Path | None,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        interleaved: bool = False,
        any_names: bool = False,
        report: _Path | None = None,
        confidence: float = 0.0,
        hitmin: int | None = None,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Rows:
        """Classifies reads and writes files with the same bytes as `merganser classify`.

        Args:
            output: The file for one line per read, in the format of Kraken 2; None for no file. Compressed if the
                name ends in .gz.
            reads: As for `classify`; also `mates`, `interleaved`, `any_names`, `confidence`, `hitmin`, `device`,
                `threads`, `memory`, `tmp_dir`.
            report: The file for a report in the format of Kraken 2.
            progress: As for `count`.

        Returns:
            The report: a `Batch` with columns `percent` (float64), `clade_reads`, `taxon_reads` (uint64), `rank`,
            `taxid` (uint32), `name`.
        """

@final
class Index:
    r"""The index of a reference, for mapping reads. Threads may share it.

    >>> import merganser, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "reference.fa")
    >>> _ = open(path, "w").write(">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")
    >>> hits = merganser.Index.build(path).map(["GATTACAGATCCCGTAA"], threshold=1)
    >>> hits["contig"], hits["position"].tolist(), hits["edits"].tolist(), hits["cigar"]
    (['c'], [10], [0], ['17='])
    """
    @staticmethod
    def open(path: _Path) -> Index:
        """Opens an index (.mgi). Its file is mapped into memory and read on demand."""
    @staticmethod
    def build(
        reference: _Path,
        *,
        output: _Path | None = None,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> Index:
        """Builds the index of a reference.

        Args:
            reference: A FASTA file.
            output: The file (.mgi); None to keep the index in memory.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.
        """
    @property
    def path(self) -> PathLike[str] | None:
        """The file of the index; None if it is in memory."""
    @property
    def contigs(self) -> list[tuple[str, int]]:
        """The names of the reference's sequences and their lengths in bases."""
    @property
    def bases(self) -> int:
        """The number of bases of the reference."""
    def map(
        self,
        reads: Iterable[str | bytes] | _Arrow,
        threshold: int,
        *,
        best: bool = False,
        best_strata: bool = False,
        max_hits: int = 0,
        threads: int | None = None,
        progress: _Progress | None = None,
    ) -> Rows:
        """Finds the positions of reads in the reference, with at most `threshold` edits, on either strand.

        Args:
            reads: Arrow strings, or an iterable of str and bytes.
            threshold: The maximum number of edits.
            best: Return only the first hit of each read.
            best_strata: Return all hits that have the same number of edits as the first.
            max_hits: The maximum number of hits per read; 0 for no limit.
            threads: The number of threads; None for one per processor.
            progress: True, or a function, which is called regularly and may raise an exception to end the run.

        Returns:
            A `Batch` with one row per hit, ordered by read: `read` (uint64, its number from 0), `contig`, `position`
            (uint32, from 0), `reverse` (whether the reverse complement of the read matches), `edits` (uint32),
            `cigar` (with = and X).
        """

def count(
    reads: _Reads,
    k: int = 31,
    *,
    min_count: int = 2,
    max_count: int | None = None,
    forward_only: bool = False,
    hpc: bool = False,
    min_qual: int | None = None,
    quality_offset: int = 33,
    reference: _Path | None = None,
    output: _Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Table: ...
def filter(
    reads: _Sequences,
    segments: _Sequences,
    e: _Edits,
    *,
    method: Literal["exact", "gatekeeper", "snake", "gatekeeper-original"] = "exact",
    n_mode: Literal["mismatch", "match", "pass"] = "mismatch",
    align: Literal["global", "semiglobal"] = "global",
    threads: int | None = None,
    progress: _Progress | None = None,
) -> Any: ...
def encode_kmers(kmers: _Kmers, canonical: bool = False) -> Any: ...
def decode_kmers(kmers: _NumpyArray | Iterable[int], k: int) -> Column: ...
def devices() -> list[dict[str, Any]]:
    """Lists the devices: dicts of `device` (the value for `device=`), `name`, `usable`, and `problem` (None if it is
    usable).

    >>> import merganser
    >>> merganser.devices()[0]["device"]
    'cpu'
    """
