from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    count: int  # type: ignore[assignment]

_Path: TypeAlias = str | PathLike[str]
_Paths: TypeAlias = _Path | Iterable[_Path]
_Arrow: TypeAlias = _ArrowArray | _ArrowStream
_Sequences: TypeAlias = Iterable[bytes] | _Arrow | _NumpyArray
_Reads: TypeAlias = _Paths | _Sequences
_Letters: TypeAlias = Iterable[str | bytes] | _Arrow | _NumpyArray
_DNA: TypeAlias = str | bytes
_Texts: TypeAlias = _DNA | _Reads | Iterable[_DNA]
_Patterns: TypeAlias = _DNA | PathLike[str] | Mapping[str, _DNA] | Iterable[_DNA | tuple[str, _DNA]]
_PrimerPair: TypeAlias = tuple[_DNA, _DNA]
_Primers: TypeAlias = _Path | Mapping[str, _PrimerPair] | Iterable[tuple[str, _DNA, _DNA] | tuple[str, _PrimerPair]]
_Codes: TypeAlias = Iterable[int] | _Arrow | _NumpyArray
_Edits: TypeAlias = int | str
_Taxids: TypeAlias = int | Iterable[int]
_Memory: TypeAlias = int | str
_Progress: TypeAlias = bool | Callable[[str, int, int | None], object]
_Counts: TypeAlias = Literal["min", "max", "sum", "diff", "left", "right"]
_Format: TypeAlias = Literal["mgk", "kmc", "kff", "jf", "tsv", "fasta", "jellyfish"]

@final
class Rows:
    """Rows with named columns.

    `rows[name]` is a column: numbers as a NumPy array (a view, without a copy), text as a list. Iteration gives named
    tuples. Polars, pyarrow, DuckDB and pandas read the rows without a copy: `polars.DataFrame(rows)`,
    `pyarrow.table(rows)`, `duckdb.sql("FROM rows")`, `rows.to_pandas()`.

    >>> import merganser
    >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).histogram()
    >>> rows.columns, len(rows), list(rows)
    (['count', 'kmers'], 2, [Row(count=1, kmers=2), Row(count=2, kmers=1)])
    """
    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object) -> bool: ...
    def read_all(self) -> Rows:
        """Returns the rows themselves, as `RowStream.read_all` does.

        >>> import merganser
        >>> rows = merganser.count([b"ACGTTA"], k=5, min_count=1).histogram()
        >>> rows.read_all() == rows
        True
        """
    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the columns as lists, by name.

        >>> import merganser
        >>> merganser.count([b"ACGTTA"], k=5, min_count=1).histogram().to_dict()
        {'count': [1], 'kmers': [2]}
        """
    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.

        >>> import merganser
        >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).batches().read_all()
        >>> rows.to_pandas().shape
        (3, 2)
        """
    def to_polars(self) -> polars.DataFrame:
        """Returns the rows as a `polars.DataFrame`. Needs the package polars.

        >>> import merganser
        >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).batches().read_all()
        >>> rows.to_polars().shape
        (3, 2)
        """
    def to_arrow(self) -> pyarrow.Table:
        """Returns the rows as a `pyarrow.Table`. Needs the package pyarrow.

        >>> import merganser
        >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).batches().read_all()
        >>> rows.to_arrow().shape
        (3, 2)
        """
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def _repr_html_(self) -> str: ...

@final
class Column:
    """A column of text or numbers, for Arrow and NumPy; numbers are not copied. `column[3]` is a value, a slice is a column.
    Functions and `rows[name]` return it instead of a NumPy array if NumPy is not installed.
    """
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def tolist(self) -> list[Any]:
        """Returns the values as a list.

        >>> import merganser
        >>> merganser.decode_kmers([27], k=4).tolist()
        ['ACGT']
        """
    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Column: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class RowStream:
    """An iterator of `Rows`, which are made while earlier ones are consumed. Rows can be consumed once: by iteration, by
    `read_all` or a `to_` method, or by Polars, pyarrow and DuckDB (which reads them again at each call of a relation:
    give it `read_all()` instead). Reading the schema consumes no rows. Deleting the stream ends its run.
    """
    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
    def __iter__(self) -> Iterator[Rows]: ...
    def __next__(self) -> Rows: ...
    def read_all(self) -> Rows:
        """Returns all remaining rows.

        Raises:
            RuntimeError: If the rows were read before.
            ValueError: If a column has more than 2 GiB of text.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.batches(size=1).read_all()["count"].tolist()
        [1, 2, 1]
        """
    def to_pandas(self) -> pandas.DataFrame:
        """Returns the remaining rows as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.batches().to_pandas().shape
        (3, 2)
        """
    def to_polars(self) -> polars.DataFrame:
        """Returns the remaining rows as a `polars.DataFrame`. Needs the package polars.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.batches().to_polars().shape
        (3, 2)
        """
    def to_arrow(self) -> pyarrow.Table:
        """Returns the remaining rows as a `pyarrow.Table`. Needs the package pyarrow.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.batches().to_arrow().shape
        (3, 2)
        """
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Table:
    """Distinct k-mers with their counts, in lexicographic order, on disk.

    Made by `count`, `Table.open`, or operations on other tables. Iteration gives named tuples `(kmer, count)`;
    `table[kmer]` is a count. Polars, pyarrow, DuckDB and pandas read it as columns `kmer` (string) and `count`
    (uint32): `polars.DataFrame(kmers)`, `pyarrow.table(kmers)`, `duckdb.sql("FROM kmers")`, `kmers.to_pandas()`.
    Tables are equal if they have the same k, strands, k-mers and counts. Threads may share a table. After a `with`
    block it is closed, and a temporary file is removed.

    >>> import merganser
    >>> with merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1) as table:
    ...     len(table), table["CGTTA"], "AAAAA" in table, dict(table)
    (3, 2, False, {'AACGT': 1, 'CGTTA': 2, 'GTAAC': 1})
    """
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
    ) -> Table:
        """Opens a table of any format: .mgk, KMC, KFF, .jf, FastK, meryl, text (`KMER COUNT` lines). Tables of other formats
        than .mgk are first converted to a temporary .mgk file.

        Args:
            path: The file; for KMC the name without suffix; for meryl the folder.
            forward_only: Take the k-mers of text and meryl as written, not as canonical.
            hpc: The k-mers are from homopolymer-compressed reads; an .mgk file contains this information.
            threads: As for `count`, for the conversion.
            memory: As for `count`, for the conversion.
            tmp_dir: The folder for the temporary table.
            progress: As for `count`.

        Returns:
            The table.

        Raises:
            FileNotFound: If there is no such file.
            InputError: If the file is damaged or not a table.

        >>> import merganser, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "a.mgk")
        >>> merganser.count([b"ACGTT"], k=5, min_count=1).save(path)
        >>> merganser.Table.open(path).k
        5
        """
    def save(
        self,
        path: _Path,
        format: _Format | None = None,
        *,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> None:
        r"""Writes the table to a file.

        Args:
            path: The file. Without `format`, its suffix selects the format: .mgk, .kff, .jf, .tsv, .tsv.gz, .fa or .fasta.
            format: "mgk", "kmc", "kff", "jf", "tsv", "fasta" or "jellyfish"; None for that of the suffix.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.

        Raises:
            ArgumentError: If the format is unknown, or is text (tsv, fasta, jellyfish) and the table is empty.
            OutputError: If the file cannot be written.

        >>> import merganser, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "a.tsv")
        >>> merganser.count([b"ACGTT"], k=5, min_count=1).save(path)
        >>> open(path).read()
        'AACGT\t1\n'
        """
    def close(self) -> None:
        """Closes the table, and removes its file if it is temporary. A `with` block does the same at its end.

        >>> import merganser
        >>> table = merganser.count([b"ACGTT"], k=5, min_count=1)
        >>> table.close()
        >>> table
        <merganser.Table, closed>
        """
    def __enter__(self) -> Table: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @property
    def k(self) -> int:
        """The length of a k-mer in bases."""
    @property
    def canonical(self) -> bool:
        """Whether a k-mer and its reverse complement were counted together."""
    @property
    def path(self) -> PathLike[str] | None:
        """The file of the table; None if it is temporary."""
    @property
    def info(self) -> dict[str, Any]:
        """A summary of the table: k, canonical, min_count, max_count, min_quality, homopolymer_compressed, only_given (whether
        it has only given k-mers of the reads, of a panel or an intersection), kmers (the number of distinct k-mers in the
        table), occurrences (the sum of their counts), largest_count, saturated, distinct_kmers and total_kmers (of the
        input, before filtering by count).
        """
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __contains__(self, kmer: str | bytes | tuple[str | bytes, int]) -> bool: ...
    def __getitem__(self, kmer: str | bytes) -> int: ...
    @overload
    def get(self, kmer: str | bytes, default: int = 0) -> int:
        """Returns the count of a k-mer, on either strand if the table is canonical, or `default` if the table does not
        have the k-mer.

        Args:
            kmer: The k-mer, a str or bytes.
            default: The number, or None, for a k-mer that the table does not have.

        Raises:
            ArgumentError: If it does not have k letters, or if one of them is not a base.

        >>> import merganser
        >>> table = merganser.count([b"ACGTT"], k=5, min_count=1)
        >>> table.get("AACGT"), table.get("AAAAA"), table.get("AAAAA", None)
        (1, 0, None)
        """
    @overload
    def get(self, kmer: str | bytes, default: None) -> int | None:
        """Returns the count of a k-mer, on either strand if the table is canonical, or `default` if the table does not
        have the k-mer.

        Args:
            kmer: The k-mer, a str or bytes.
            default: The number, or None, for a k-mer that the table does not have.

        Raises:
            ArgumentError: If it does not have k letters, or if one of them is not a base.

        >>> import merganser
        >>> table = merganser.count([b"ACGTT"], k=5, min_count=1)
        >>> table.get("AACGT"), table.get("AAAAA"), table.get("AAAAA", None)
        (1, 0, None)
        """
    def query(self, kmers: _Letters | _Codes, *, threads: int | None = None, memory: _Memory | None = None) -> Any:
        """Returns the counts of many k-mers, in their order; 0 for k-mers that the table does not have.

        The first call loads the table into memory (about 13 bytes per k-mer for k up to 32).

        Args:
            kmers: A NumPy array of dtype "S" or "U", Arrow strings, or an iterable of str and bytes; or integers, as
                `encode_kmers` returns them (k up to 32): a NumPy or Arrow array, or a list. Integers do not tell
                their k: those of k-mers of another length give counts of other k-mers, without an error.
            threads: The number of threads; None for one per processor.
            memory: As for `count`, for loading the table.

        Returns:
            A NumPy array of uint32, as long as `kmers` (a `Column` if NumPy is not installed).

        Raises:
            ArgumentError: If a k-mer does not have k letters, or if one of them is not a base.
            MemoryLimitError: If the table does not fit in `memory`.
            TypeError: If `kmers` is a single k-mer.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.query(["CGTTA", "TAACG", "AAAAA"]).tolist()
        [2, 2, 0]
        """
    def histogram(
        self,
        *,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> Rows:
        """Returns the number of k-mers with each count. The table is read once, at the first call.

        Args:
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.

        Returns:
            `Rows` with columns `count` (uint32, from 1, ascending) and `kmers` (uint64, never 0).

        >>> import merganser
        >>> histogram = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).histogram()
        >>> histogram["count"].tolist(), histogram["kmers"].tolist()
        ([1, 2], [2, 1])
        """
    def spectrum(
        self,
        ploidy: int = 2,
        coverage: float | None = None,
        *,
        topology: int = 0,
        max_count: int | None = None,
        exclude_above: int | None = None,
    ) -> Spectrum:
        """Fits the model of GenomeScope to the histogram. The table must have the low counts: use `min_count=1`. Reasons
        to doubt the model are issued as warnings, and are in `doubts`.

        Args:
            ploidy: The number of haplotypes, 1 to 6.
            coverage: The approximate number of occurrences of a k-mer that is in one haplotype once; None to estimate
                it.
            topology: The relation of four haplotypes (1 or 2), five (1 to 5) or six (1 to 16), by the numbers of
                GenomeScope 2; 0 for any.
            max_count: Do not fit the model to counts above this number, 20 or more; they still count for the genome
                size. None for 2000, or ten times the main peak.
            exclude_above: Ignore k-mers that occur more often than this, 20 or more, also in the genome size: those of
                organelles, plasmids and spike-ins; None for no limit.

        Returns:
            The model, which notebooks show as a plot.

        Raises:
            ArgumentError: If an argument is out of range.
            InputError: If the coverage is too low for a model, the table has k-mers of the forward strand, or only
                given ones.

        >>> import merganser, random
        >>> genome = bytes(random.Random(1).choices(b"ACGT", k=30_000))
        >>> reads = [genome[at : at + 150] for at in random.Random(2).choices(range(29_850), k=6000)]
        >>> spectrum = merganser.count(reads, k=21, min_count=1).spectrum(ploidy=1)
        >>> 27_000 < spectrum.genome_size < 33_000, spectrum.ploidy
        (True, 1)
        """
    def batches(self, size: int = 65536, kmers: Literal["str", "int"] = "str") -> RowStream:
        """Returns the k-mers in ascending order, in batches of rows with columns.

        Args:
            size: The number of rows of a batch; the last one may have fewer.
            kmers: "str" for a column `kmer` of letters; "int" for a column `kmer` of uint64 (k up to 32), or for two
                of them, `kmer_high` and `kmer_low` (k up to 64).

        Returns:
            An iterator of `Rows` with these columns and `count` (uint32).

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> for rows in table.batches(size=2, kmers="int"):
        ...     rows["kmer"].tolist(), rows["count"].tolist()
        ([27, 444], [1, 2])
        ([705], [1])
        """
    def __iter__(self) -> Iterator[_Count]: ...
    def to_pandas(self) -> pandas.DataFrame:
        """Returns the k-mers and counts as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.to_pandas().shape
        (3, 2)
        """
    def to_polars(self) -> polars.DataFrame:
        """Returns the k-mers and counts as a `polars.DataFrame`. Needs the package polars.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.to_polars().shape
        (3, 2)
        """
    def to_arrow(self) -> pyarrow.Table:
        """Returns the k-mers and counts as a `pyarrow.Table`. Needs the package pyarrow.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> table.to_arrow().shape
        (3, 2)
        """
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
    ) -> Table:
        """Returns the k-mers that are in any of the tables.

        Args:
            others: Tables with the same k and strands.
            counts: The count of a k-mer that is in several tables: "min", "max", "sum", "diff", "left" or "right";
                None for the sum.
            output: The file for the result (.mgk); None for a temporary one.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Raises:
            ArgumentError: If the tables differ in k or strands.

        >>> import merganser
        >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
        >>> dict(a.union(b))
        {'AACGT': 1, 'CGTTA': 2, 'GTAAC': 1}
        """
    def intersect(
        self,
        *others: Table,
        counts: _Counts | None = None,
        output: _Path | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table:
        """Returns the k-mers that are in all of the tables.

        Args:
            others: Tables with the same k and strands.
            counts: The count of a k-mer: "min", "max", "sum", "diff", "left" or "right"; None for the minimum.
            output: The file for the result (.mgk); None for a temporary one.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Raises:
            ArgumentError: If the tables differ in k or strands.

        >>> import merganser
        >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
        >>> dict(a.intersect(b))
        {'CGTTA': 1}
        """
    def subtract(
        self,
        *others: Table,
        output: _Path | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Table:
        """Returns the k-mers that are in no other table, with their counts.

        Args:
            others: Tables with the same k and strands.
            output: The file for the result (.mgk); None for a temporary one.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Raises:
            ArgumentError: If the tables differ in k or strands.

        >>> import merganser
        >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
        >>> dict(a.subtract(b))
        {'AACGT': 1}
        """
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
    ) -> Table:
        """Returns the k-mers with counts from `min_count` to `max_count`.

        Args:
            min_count: The lowest count.
            max_count: The highest count; None for no limit.
            output: The file for the result (.mgk); None for a temporary one.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        >>> import merganser
        >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
        >>> dict(table.reduce(min_count=2))
        {'CGTTA': 2}
        """
    def jaccard(
        self,
        other: Table,
        *,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> float:
        """Returns the exact Jaccard index of the k-mers of two tables: the number in both divided by the number in
        either.

        Args:
            other: A table with the same k and strands.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.

        >>> import merganser
        >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
        >>> round(a.jaccard(b), 3)
        0.333
        """
    def __or__(self, other: Table) -> Table: ...
    def __and__(self, other: Table) -> Table: ...
    def __sub__(self, other: Table) -> Table: ...
    def _repr_html_(self) -> str: ...

@final
class Spectrum:
    """The model that GenomeScope fits to the histogram of a table, made by `Table.spectrum`. Notebooks show its plot and
    values.
    """
    @property
    def k(self) -> int:
        """The length of a k-mer in bases."""
    @property
    def ploidy(self) -> int:
        """The number of haplotypes."""
    @property
    def genome_size(self) -> float:
        """The number of bases of one haplotype."""
    @property
    def unique_size(self) -> float:
        """The number of bases of one haplotype that are not repeated in it."""
    @property
    def heterozygosity(self) -> float:
        """The number of differences between haplotypes per base."""
    @property
    def coverage(self) -> float:
        """The number of occurrences of a k-mer that is in one haplotype once."""
    @property
    def error_rate(self) -> float | None:
        """The number of errors per base of the reads; None if low counts are missing from the table."""
    @property
    def standard_errors(self) -> dict[str, float | None]:
        """The standard errors of genome_size, unique_size, heterozygosity, coverage and error_rate, by these names; empty
        if they are unknown.
        """
    @property
    def explained(self) -> float:
        """The fraction of the histogram's variance that the model explains, 0 to 1."""
    @property
    def doubts(self) -> list[str]:
        """Reasons to doubt the model, one sentence each."""
    @property
    def expected(self) -> list[float]:
        """The expected number of k-mers of each count, from 0 on."""
    def to_dict(self) -> dict[str, Any]:
        """Returns all values by name."""
    def svg(self) -> str:
        """Returns the plot of histogram and model, as SVG."""
    def _repr_html_(self) -> str: ...

@final
class Database:
    r"""A database of reference genomes for classifying reads: a file of Merganser (.mgdb) or a folder of Kraken 2. Threads
    may share it. `with` closes it.

    >>> import merganser, pathlib, random, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\t|\n7\t|\t1\t|\tspecies\t|\n")
    >>> names = "1\t|\troot\t|\t\t|\tscientific name\t|\n7\t|\tA virus\t|\t\t|\tscientific name\t|\n"
    >>> _ = (folder / "names.dmp").write_text(names)
    >>> genome = bytes(random.Random(1).choices(b"ACGT", k=500))
    >>> _ = (folder / "genome.fa").write_bytes(b">kraken:taxid|7|g\n" + genome + b"\n")
    >>> with merganser.Database.build(folder / "genome.fa", folder) as database:
    ...     database.classify([genome[100:250], b"T" * 100]).read_all()["name"]
    ['A virus', None]
    """
    @staticmethod
    def open(path: _Paths) -> Database:
        """Opens a database, or several that are used together as one. Files are mapped into memory and read on demand.

        Args:
            path: A file (.mgdb), or a folder of Kraken 2 with hash.k2d, opts.k2d and taxo.k2d; or several of the same kind.

        Returns:
            The database.

        Raises:
            ArgumentError: If there are both files and folders of Kraken 2.
            FileNotFound: If there is no such file or folder.
            InputError: If one is damaged or not a database, or several cannot be used together.
        """
    @staticmethod
    def build(
        genomes: _Paths,
        taxonomy: _Paths,
        *,
        output: _Path | None = None,
        format: Literal["mgdb", "kraken2"] = "mgdb",
        map: _Paths | None = None,
        strict: bool = False,
        preset: Literal["sensitive", "metacache"] | None = None,
        k: int | None = None,
        sketch: int | None = None,
        window: int | None = None,
        stride: int | None = None,
        density: int | None = None,
        max_locations: int | None = None,
        masked: Literal["none", "low-complexity"] | None = None,
        drop_overfull: bool = False,
        drop_ambiguous: str | None = None,
        max_ambiguous: int | None = None,
        parts: int = 1,
        max_part_size: _Memory | None = None,
        minimizer_len: int = 31,
        minimizer_spaces: int = 7,
        max_db_size: _Memory | None = None,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Database:
        """Builds a database from genomes.

        Args:
            genomes: FASTA files, folders of them, or libraries made by `merganser db prepare`: one or several.
            taxonomy: A folder with nodes.dmp and names.dmp from NCBI, or one or several files of GTDB.
            output: The file (.mgdb), or the folder for `format="kraken2"`; None to keep a database of Merganser in memory.
            format: "mgdb" for a database of Merganser, or "kraken2" for one that Kraken 2 can read, too.
            map: Files that map sequence IDs or assemblies to taxids: one or several.
            strict: Fail if a sequence has no taxon, or an ID occurs twice.
            preset: "sensitive", or "metacache" for the parameters and the rule of MetaCache; the options below override
                single parameters.
            k: The length of k-mers in bases.
            sketch: The maximum number of features of a window, 1 to 128.
            window: The window length in bases, k to 1,024.
            stride: The bases between the starts of consecutive windows.
            density: Use only this many of 256 k-mers, those with the lowest hashes, 1 to 256.
            max_locations: Keep at most this many locations of a feature.
            masked: The regions to leave out: "none" or "low-complexity"; None for the format's default.
            drop_overfull: Leave out features with more than `max_locations` locations.
            drop_ambiguous: Leave out features that occur in more than `max_ambiguous` taxa of this rank.
            max_ambiguous: The maximum number of taxa of a feature.
            parts: The number of parts of the database, which can be queried one after the other.
            max_part_size: Make enough parts for each to have about this size: bytes, or a text such as "8G".
            minimizer_len: For Kraken 2: the length of a minimizer in bases, 31 by default.
            minimizer_spaces: For Kraken 2: the bases of a minimizer that are ignored, 7 by default.
            max_db_size: For Kraken 2: the maximum size of the table: bytes, or a text such as "8G".
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Returns:
            The database.

        Raises:
            ArgumentError: If an argument is out of range, or belongs to the other format.
            InputError: If a genome, the taxonomy or a map is invalid, or if no sequence has a taxon.
            OutputError: If the database cannot be written.
        """
    @property
    def path(self) -> PathLike[str] | None:
        """The file or folder of the database; None if it is in memory, or several that are used together."""
    @property
    def paths(self) -> list[PathLike[str]]:
        """The files or folders of the database; empty if it is in memory."""
    @property
    def format(self) -> Literal["mgdb", "kraken2"]:
        """The format: "mgdb" for a database of Merganser, "kraken2" for one of Kraken 2."""
    @property
    def info(self) -> dict[str, Any]:
        """A summary of the database. Both formats: format, k, taxa, bytes. Merganser: preset, sequences, left_out,
        features, parts. Kraken 2: minimizer_len, minimizers, cells (of the table).
        """
    def taxa(self, rank: str | None = None) -> Rows:
        """Returns the taxa of the database, in the order of the taxonomy, which is depth first.

        Args:
            rank: Return only the taxa of this rank, such as "species".

        Returns:
            `Rows` with `taxid` (uint32), `rank`, `name`, `parent` (uint32), and the numbers of reference sequences and
            their bases, of the taxon itself and of its clade: `sequences`, `bases`, `clade_sequences`, `clade_bases`
            (uint64). Databases of Kraken 2 do not have these columns.

        Raises:
            ArgumentError: If the rank is unknown.
        """
    def sequences(self) -> Rows:
        """Returns the reference sequences of a database of Merganser.

        Returns:
            `Rows` with `sequence` (its name), `taxid` (uint32), `rank`, `name` (of the taxon), `bases` (uint64) and
            `windows` (uint32).

        Raises:
            InputError: If the database is one of Kraken 2, which does not have the names of sequences.
        """
    def close(self) -> None:
        """Releases the database. Later uses raise ValueError."""
    def __enter__(self) -> Database: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None: ...
    def classify(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        interleaved: bool = False,
        any_names: bool = False,
        reference: _Path | None = None,
        confidence: float = 0.0,
        hitmin: int | None = None,
        hitmin_per_kb: int | None = None,
        hitmin_contested: int | None = None,
        hitdiff: float | None = None,
        near: int | None = None,
        lowest: str | None = None,
        highest: str | None = None,
        max_cand: int | None = None,
        insert: int | None = None,
        min_fraction: float | None = None,
        cov_percentile: float = 0,
        min_read_len: int | None = None,
        max_read_len: int | None = None,
        minimum_hit_groups: int = 2,
        quick: bool = False,
        min_qual: int = 0,
        quality_offset: int = 33,
        mapped_only: bool = False,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> RowStream:
        """Classifies reads, in the order of the input.

        Args:
            reads: Files or sequences, as for `count`.
            mates: The second mates, the same number of files or sequences as `reads`.
            interleaved: First and second mates alternate in `reads`.
            any_names: Pair mates by position, even if their names differ.
            reference: The reference as FASTA, which reads in CRAM need.
            confidence: The minimum share of a read's k-mers (with a database of Merganser: about the share of k-mers
                of 35 bases that its k-mers imply) that must be in the clade of its taxon, 0 to 1.
            hitmin: The minimum number of hits of the best candidate; None for the preset's.
            hitmin_per_kb: The minimum number of hits per 1,000 bases, used if larger than `hitmin`.
            hitmin_contested: Additional hits that the best candidate needs if there is a second candidate.
            hitdiff: The percentage of the best candidate's hits that another candidate must exceed to be considered.
            near: Compare candidates that are fewer than this many hits behind the best one by the features of all
                sequences of their taxa; 0 by their best sequences alone.
            lowest: The lowest rank at which taxa are distinguished, such as "species".
            highest: The highest rank of a taxon; reads whose taxon is above it are unclassified.
            max_cand: The maximum number of candidates of a read.
            insert: The longest insert of a pair in bases.
            min_fraction: The fraction of a read's windows that must hit the clade of its taxon; None for 0.
            cov_percentile: Ignore the sequences with the lowest coverage that together have at most this percentage of
                the total coverage.
            min_read_len: Ignore mates with fewer bases.
            max_read_len: Ignore mates with more bases.
            minimum_hit_groups: For Kraken 2: the minimum number of hit groups of a classified read.
            quick: For Kraken 2: stop looking at a read when it has that many hit groups.
            min_qual: Treat bases of a lower quality as N.
            quality_offset: As for `count`.
            mapped_only: Return only the reads that have a taxon.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`; it is called while rows are consumed.

        Returns:
            A `RowStream`, which makes rows while earlier ones are consumed. Columns: `read` (its name; for a sequence
            its number, from 1, not from 0 as in `map`), `taxid` (uint32, 0 for unclassified), `name` and `rank` (of the taxon, null for
            unclassified), `length` (bases, "a|b" for a pair), and scores: with a database of Merganser `hits` (uint32,
            of the best candidate); with one of Kraken 2 `hits` (k-mers in the clade of the taxon) and `kmers` (all k-mers
            without ambiguous letters), whose quotient is compared with `confidence`; both are null with `quick`.

        Raises:
            ArgumentError: If an argument is out of range, or belongs to the other kind of database.
            FileNotFound: If an input does not exist; raised when rows are consumed, as all that follow.
            InputError: If a read is invalid; it has `file` and `record`.
            OutputError: If a temporary file cannot be written.
            MemoryLimitError: If `memory` is too small.
            DeviceError: If a requested GPU cannot be used.
            InternalError: If the package has an error.
        """
    def classify_to(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        output: _Path | None = None,
        interleaved: bool = False,
        any_names: bool = False,
        reference: _Path | None = None,
        confidence: float = 0.0,
        hitmin: int | None = None,
        hitmin_per_kb: int | None = None,
        hitmin_contested: int | None = None,
        hitdiff: float | None = None,
        near: int | None = None,
        lowest: str | None = None,
        highest: str | None = None,
        max_cand: int | None = None,
        insert: int | None = None,
        min_fraction: float | None = None,
        cov_percentile: float = 0,
        min_read_len: int | None = None,
        max_read_len: int | None = None,
        minimum_hit_groups: int = 2,
        quick: bool = False,
        min_qual: int = 0,
        quality_offset: int = 33,
        mapped_only: bool = False,
        report: _Path | None = None,
        report_bases: _Path | None = None,
        bases: bool = False,
        report_zero_counts: bool = False,
        report_minimizer_data: bool = False,
        mpa: _Path | None = None,
        krona: _Path | None = None,
        abundance: _Path | None = None,
        cami: _Path | None = None,
        sample_id: str = "sample",
        min_reads: int = 0,
        bracken: _Path | None = None,
        bracken_output: _Path | None = None,
        bracken_report: _Path | None = None,
        bracken_level: str = "S",
        bracken_threshold: int = 10,
        segments_out: _Path | None = None,
        segment_length: int | None = None,
        hits_per_ref: _Path | None = None,
        partial: _Path | None = None,
        classified_out: _Path | None = None,
        unclassified_out: _Path | None = None,
        use_names: bool = False,
        format: Literal["kraken", "metacache"] = "kraken",
        tophits: bool = False,
        allhits: bool = False,
        locations: bool = False,
        lineage: bool = False,
        queryids: bool = False,
        taxids: bool = False,
        taxids_only: bool = False,
        omit_ranks: bool = False,
        separate_cols: bool = False,
        separator: str | None = None,
        comment: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Report:
        """Classifies reads and writes files with the same bytes as `merganser classify`.

        Args:
            reads: As for `classify`; also `mates` and all of its other arguments.
            output: The file for one line per read, in the format of Kraken 2; None for no such file. At least one
                output of any kind is needed. All are compressed if their names end in .gz.
            report: The file for a report in the format of Kraken 2.
            report_bases: The file for a report of bases in place of reads.
            bases: Add columns of bases to `abundance` and `bracken_output`.
            report_zero_counts: Include taxa without reads in `report`, `report_bases` and `mpa`.
            report_minimizer_data: Add the columns of minimizers to the report: all, and distinct ones.
            mpa: The file for a MetaPhlAn-style table.
            krona: The file for the text of Krona's ktImportText.
            abundance: The file for estimated abundances of all taxa at every rank.
            cami: The file for estimated abundances as a CAMI profile.
            sample_id: The name of the sample in `cami`.
            min_reads: The reads that a taxon needs to be present in `abundance` and `cami`.
            bracken: The distribution of the database for `bracken_output`.
            bracken_output: The file for Bracken's table.
            bracken_report: The file for a report with the reads that Bracken estimates.
            bracken_level: The rank code of the taxa that Bracken assigns reads to.
            bracken_threshold: The reads that a taxon needs for Bracken to consider it present.
            segments_out: The file for the taxa of the segments of each read, which tells chimeric reads.
            segment_length: The length of these segments in bases; None for 1,000.
            hits_per_ref: The file for a table of the reference sequences that were hit.
            partial: The file for partial results, which `Report.merge` and `merganser classify join` merge.
            classified_out: The file for reads that have a taxon; # in the name becomes _1 and _2 for pairs
                (in `MinimizerSet.filter` 1 and 2). A name in .sam, .bam or .cram gets all alignments of the reads, with the
                tags tx and tn.
            unclassified_out: The file for reads without a taxon; named as `classified_out`.
            use_names: Write `NAME (taxid TAXID)` instead of the taxid.
            format: The format of the lines: "kraken" or "metacache".
            tophits: For "metacache": show the candidates with their hits; also `allhits`, `locations`, `lineage`,
                `queryids`, `taxids`, `taxids_only`, `omit_ranks`, `separate_cols`, `separator` and `comment`, as the
                options of the program.
            progress: As for `count`.

        Returns:
            The `Report`.

        Raises:
            ArgumentError: If an argument is out of range, or belongs to the other kind of database.
            InputError: If a read is invalid; it has `file` and `record`.
            OutputError: If an output cannot be written; then no output appears.
        """
    def _repr_html_(self) -> str: ...

@final
class Index:
    r"""The index of a reference, for mapping reads. Threads may share it. `with` closes it.

    >>> import merganser, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "reference.fa")
    >>> _ = open(path, "w").write(">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")
    >>> hits = merganser.Index.build(path).map([b"GATTACAGATCCCGTAA"], e=1)
    >>> hits["contig"], hits["position"].tolist(), hits["edits"].tolist(), hits["cigar"]
    (['c'], [10], [0], ['17='])
    """
    @staticmethod
    def open(path: _Path) -> Index:
        """Opens an index (.mgi). Its file is mapped into memory and read on demand.

        Args:
            path: The file.

        Returns:
            The index.

        Raises:
            FileNotFound: If there is no such file.
            InputError: If the file is damaged or not an index.
        """
    @staticmethod
    def build(
        reference: _Path,
        *,
        output: _Path | None = None,
        circular: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> Index:
        """Builds the index of a reference.

        Args:
            reference: A FASTA file.
            output: The file (.mgi); None to keep the index in memory.
            circular: The names of circular contigs, separated by commas, "all" or "none"; None for those whose header
                has topology=circular or circular=true.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.

        Returns:
            The index.

        Raises:
            FileNotFound: If there is no such file.
            InputError: If the reference is not FASTA, or has no sequences.
            OutputError: If the file cannot be written.
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
    @property
    def info(self) -> dict[str, int]:
        """A summary of the index: contigs, bases, k (the length of its k-mers), positions, bytes."""
    def close(self) -> None:
        """Releases the index. Later uses raise ValueError."""
    def __enter__(self) -> Index: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None: ...
    def map(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        e: _Edits,
        interleaved: bool = False,
        any_names: bool = False,
        reference: _Path | None = None,
        best: bool = False,
        best_strata: bool = False,
        max_hits: int = 0,
        strand: Literal["both", "forward", "reverse"] = "both",
        hamming: bool = False,
        n_mode: Literal["mismatch", "match"] = "mismatch",
        crop: int | None = None,
        quality_offset: int = 33,
        min_insert: int = 0,
        max_insert: int = 500,
        rescue: _Edits | None = None,
        clip: bool = False,
        filter: Literal["exact", "gatekeeper", "snake", "none"] = "exact",
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Rows:
        r"""Finds the positions of reads in the reference, with at most `e` edits, on either strand.

        Args:
            reads: Files or sequences, as for `count`.
            mates: The second mates, the same number of files or sequences as `reads`.
            e: The maximum number of edits of a hit: an int, or per cent of the read's length, "4%".
            interleaved: First and second mates alternate in `reads`.
            any_names: Pair mates by position, even if their names differ.
            reference: The reference as FASTA, which reads in CRAM need.
            best: Return only the first hit of a read, one with the fewest edits, or the first combination of a pair.
            best_strata: Return all hits that have the same number of edits as the first.
            max_hits: The maximum number of hits per read, or of combinations per pair; 0 for no limit.
            strand: "both", "forward" or "reverse"; only for single reads.
            hamming: Allow only substitutions, no insertions or deletions.
            echoes: Also return hits that begin within `e` bases of the first base of a better hit.
            n_mode: "mismatch" if N and other ambiguous letters match nothing, "match" if they match everything.
            crop: Map only the first bases of each read, this many.
            quality_offset: As for `count`.
            orientation: The strands and order of mates: "fr" (facing each other), "rf" (facing away from each other) or "ff"
                (on the same strand); only for pairs.
            min_insert: The minimum distance between the outer ends of mates in bases; only for pairs.
            max_insert: The maximum distance between the outer ends of mates in bases; None for 500; only for pairs.
            learn_insert: Learn `min_insert` and `max_insert`, where not given, from the first pairs.
            rescue: For pairs without a concordant combination: search for each mate with up to this many edits near
                the hits of the other one; as `e`.
            clip: Clip ends of reads whose edits cost more than clipping; the hits stay the same.
            filter: The rule that rejects candidates: "exact", "gatekeeper", "snake" or "none"; changes only the speed.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Returns:
            `Rows` with one row per hit, in the order of the reads, and none for a read without a hit: `read` (uint64, the number of the read or pair, from
            0, not from 1 as in `classify`), `name` (of the read; only for files), `mate` (uint32, 1 or 2, 0 for a single read; only for pairs),
            `contig`, `position` (uint32, from 0), `reverse` (whether the reverse complement of the read matches),
            `edits` (uint32), `mapq` (uint32), `cigar` (with = and X) and `concordant` (whether the mates are at a
            possible distance and orientation; only for pairs).

        Raises:
            ArgumentError: If an argument is out of range.
            InputError: If a read is invalid; it has `file` and `record`.

        >>> import merganser, pathlib, random, tempfile
        >>> genome = bytes(random.Random(1).choices(b"ACGT", k=1000))
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "genome.fa"
        >>> _ = path.write_bytes(b">c\n" + genome + b"\n")
        >>> hits = merganser.Index.build(path).map([genome[10:110], genome[500:600]], e="4%", best=True)
        >>> for hit in hits:
        ...     print(hit.read, hit.contig, hit.position, hit.edits, hit.cigar)
        0 c 10 0 100=
        1 c 500 0 100=
        """
    def map_to(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        e: _Edits,
        output: _Path,
        interleaved: bool = False,
        any_names: bool = False,
        reference: _Path | None = None,
        best: bool = False,
        best_strata: bool = False,
        max_hits: int = 0,
        strand: Literal["both", "forward", "reverse"] = "both",
        hamming: bool = False,
        echoes: bool = False,
        n_mode: Literal["mismatch", "match"] = "mismatch",
        crop: int | None = None,
        quality_offset: int = 33,
        orientation: Literal["fr", "rf", "ff"] = "fr",
        min_insert: int = 0,
        max_insert: int | None = None,
        learn_insert: bool = False,
        rescue: _Edits | None = None,
        clip: bool = False,
        filter: Literal["exact", "gatekeeper", "snake", "none"] = "exact",
        sort: bool = False,
        index_format: Literal["bai", "csi"] | None = None,
        read_group: str | Sequence[str] | None = None,
        unmapped: _Path | None = None,
        no_unmapped: bool = False,
        secondary_seq: bool = False,
        eqx: bool = False,
        tags: str | None = None,
        xa: int = 0,
        level: int = 1,
        device: str | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> dict[str, int]:
        r"""Maps reads and writes the records as SAM, BAM or CRAM, with the same bytes as `merganser map`.

        Args:
            reads: As for `map`; also `mates`, `e`, `interleaved`, `any_names`, `reference`, `best`, `best_strata`, `max_hits`,
                `strand`, `hamming`, `echoes`, `n_mode`, `crop`, `quality_offset`, `orientation`, `min_insert`, `max_insert`,
                `learn_insert`, `rescue`, `clip`, `filter`, `device`, `threads`, `memory`, `tmp_dir` and `progress`.
            output: The file: BAM or CRAM if the name ends in .bam or .cram, else SAM.
            sort: Sort the records by contig and position, and write an index next to the output; for BAM and CRAM.
            index_format: The kind of index of sorted BAM: "bai" or "csi"; None for bai, or csi if a contig is too long.
            read_group: The read group of all reads, such as "@RG\\tID:lane1\\tSM:sample"; or a list, one for each file or
                pair of files. {} is replaced by the name of the file.
            reference: The reference as FASTA, which CRAM needs, as output if the reference has ambiguous letters; None
                for the file that the index was built from.
            unmapped: The file for reads without a hit.
            no_unmapped: Write no records of reads without a hit, except mates of reads with a hit.
            secondary_seq: Write bases and qualities in the records of all hits of a read, not only in the first one.
            eqx: Write = and X in CIGARs instead of M.
            tags: The tags of reads that all their records keep, as by `bwa mem -C`: "BC,RX", or "*" for all; None for none.
                Read groups of the inputs are kept, too, unless `read_group` is given.
            xa: With `best`, list the other hits with the same number of edits in the tag XA, if there are at most this
                many; 0 for no tag.
            level: The compression level of BAM, 0 to 12.

        Returns:
            A dict of numbers: reads, mapped, unique, mappings, supplementary, pairs, concordant, rescued, discordant,
            one_mate.

        Raises:
            ArgumentError: If an argument is out of range.
            InputError: If a read is invalid; it has `file` and `record`.
            OutputError: If an output cannot be written; then no output appears.

        >>> import merganser, pathlib, random, tempfile
        >>> genome = bytes(random.Random(1).choices(b"ACGT", k=1000))
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "genome.fa").write_bytes(b">c\n" + genome + b"\n")
        >>> index = merganser.Index.build(folder / "genome.fa")
        >>> index.map_to([genome[10:110]], e=3, output=folder / "reads.bam", sort=True)["mapped"]
        1
        >>> sorted(path.name for path in folder.iterdir())
        ['genome.fa', 'reads.bam', 'reads.bam.bai']
        """
    def _repr_html_(self) -> str: ...

@final
class MinimizerSet:
    """The set of the minimizers of a host's genomes, by which the host's reads are removed from a sample, or kept. Sets can
    be combined: `|`, `-` and `&` are the union, the difference and the intersection. Threads may share a set. `with`
    closes it and removes its temporary file.

    >>> import merganser, random
    >>> genome = bytes(random.Random(1).choices(b"ACGT", k=500))
    >>> host = merganser.MinimizerSet.build([genome])
    >>> other = bytes(random.Random(2).choices(b"ACGT", k=100))
    >>> host.filter([genome[100:200], other])["read"]
    ['2']
    """
    @staticmethod
    def open(path: _Path) -> MinimizerSet:
        """Opens a set: .mgd, or .idx of Deacon. It is loaded into memory when it is first used.

        Args:
            path: The file.

        Returns:
            The set.

        Raises:
            FileNotFound: If there is no such file.
            InputError: If the file is not a set.
        """
    @staticmethod
    def build(
        genomes: _Reads,
        *,
        output: _Path | None = None,
        k: int = 31,
        w: int = 15,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> MinimizerSet:
        """Makes the set of the minimizers of genomes.

        Args:
            genomes: Files or sequences, as for `count`.
            output: The file: in Deacon's format if the name ends in .idx, else .mgd; None for a temporary file, which is
                deleted with the set.
            k: The length of a minimizer in bases, odd, up to 61. Above 31, a set takes three times the memory.
            w: The number of k-mers in a window, which gets one minimizer; odd, k + w at most 96.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Returns:
            The set.

        Raises:
            ArgumentError: If k or w is out of range.
            InputError: If a genome is invalid, or there are no minimizers.
            OutputError: If the set cannot be written.
        """
    def save(self, path: _Path) -> None:
        """Writes the set to a file.

        Args:
            path: The file: in Deacon's format if the name ends in .idx, else .mgd.

        Raises:
            OutputError: If the file cannot be written.
        """
    @property
    def path(self) -> PathLike[str] | None:
        """The file of the set; None if it is temporary."""
    @property
    def k(self) -> int:
        """The length of a minimizer in bases."""
    @property
    def w(self) -> int:
        """The number of k-mers in a window."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def close(self) -> None:
        """Releases the set and removes its file if it is temporary. Later uses raise ValueError."""
    def __enter__(self) -> MinimizerSet: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None: ...
    def union(self, *others: MinimizerSet, output: _Path | None = None) -> MinimizerSet:
        """Returns the minimizers that are in any of the sets.

        Args:
            others: Sets with the same k and w.
            output: The file for the result; None for a temporary one.

        Returns:
            A new set.

        Raises:
            InputError: If the sets have different k or w.

        >>> import merganser, random
        >>> one, other = (bytes(random.Random(seed).choices(b"ACGT", k=500)) for seed in (1, 2))
        >>> sets = [merganser.MinimizerSet.build([genome]) for genome in (one, other)]
        >>> len(sets[0] | sets[1]) == len(sets[0]) + len(sets[1])
        True
        """
    def subtract(self, *others: MinimizerSet, output: _Path | None = None) -> MinimizerSet:
        """Returns the minimizers that are in no other set.

        Args:
            others: Sets with the same k and w.
            output: The file for the result; None for a temporary one.

        Returns:
            A new set.

        Raises:
            InputError: If the sets have different k or w.
        """
    def intersect(self, *others: MinimizerSet, output: _Path | None = None) -> MinimizerSet:
        """Returns the minimizers that are in all of the sets.

        Args:
            others: Sets with the same k and w.
            output: The file for the result; None for a temporary one.

        Returns:
            A new set.

        Raises:
            InputError: If the sets have different k or w.
        """
    def __or__(self, other: MinimizerSet) -> MinimizerSet: ...
    def __sub__(self, other: MinimizerSet) -> MinimizerSet: ...
    def __and__(self, other: MinimizerSet) -> MinimizerSet: ...
    @overload
    def filter(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        interleaved: bool = False,
        any_names: bool = False,
        reference: _Path | None = None,
        output: None = None,
        output2: _Path | None = None,
        output_matching: _Path | None = None,
        abs_threshold: int = 2,
        rel_threshold: float = 0.01,
        prefix_length: int = 0,
        complexity_threshold: float = 0.0,
        mask: Literal["n", "lower"] | None = None,
        keep: bool = False,
        rename: bool = False,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> Rows:
        """Removes the host's reads, or keeps only these, with the decisions of `merganser deplete filter` and Deacon.

        Args:
            reads: Files or sequences, as for `count`.
            mates: The second mates, the same number of files or sequences as `reads`.
            interleaved: First and second mates alternate in `reads`.
            any_names: Pair mates by position, even if their names differ.
            reference: The reference as FASTA, which reads in CRAM need.
            output: The file for the kept reads; compressed if the name ends in .gz or .zst. If it ends in .bam, .cram or .sam,
                the alignments of the kept reads are written as they are in the input, with all tags. For pairs, # in the name
                becomes 1 and 2 (in `classify_to` and `extract` _1 and _2, as in Kraken 2); without it and without `output2`, mates are interleaved. None to return the reads.
            output2: The file for second mates.
            output_matching: The file for the removed reads, named as `output`; not with `keep` or `mask`.
            abs_threshold: The minimum number of a read's distinct minimizers that are in the set.
            rel_threshold: The minimum fraction of a read's distinct minimizers that are in the set, 0 to 1.
            prefix_length: Look only at the first bases of each read, this many; 0 looks at all.
            complexity_threshold: Ignore minimizers of the set that are less complex than this, 0 to 1.
            mask: "n" or "lower": keep all reads, and mask the host's stretches of matching ones by N or in lower case.
            keep: Keep the matching reads, and remove the others.
            rename: Replace names by numbers: 1, 2 and so on.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Returns:
            Without `output`, `Rows` of the kept reads, mates one after the other: `read` (its name; for a sequence its
            number, from 1), `sequence` and `quality` (null for reads without qualities). With `output`, a dict of
            numbers: reads, bases, kept_reads, kept_bases; a pair is two reads.

        Raises:
            ArgumentError: If an argument is out of range.
            InputError: If a read is invalid; it has `file` and `record`.
            OutputError: If an output cannot be written; then no output appears.
        """
    @overload
    def filter(
        self,
        reads: _Reads,
        mates: _Reads | None = None,
        *,
        interleaved: bool = False,
        any_names: bool = False,
        reference: _Path | None = None,
        output: _Path,
        output2: _Path | None = None,
        output_matching: _Path | None = None,
        abs_threshold: int = 2,
        rel_threshold: float = 0.01,
        prefix_length: int = 0,
        complexity_threshold: float = 0.0,
        mask: Literal["n", "lower"] | None = None,
        keep: bool = False,
        rename: bool = False,
        threads: int | None = None,
        memory: _Memory | None = None,
        tmp_dir: _Path | None = None,
        progress: _Progress | None = None,
    ) -> dict[str, int]:
        """Removes the host's reads, or keeps only these, with the decisions of `merganser deplete filter` and Deacon.

        Args:
            reads: Files or sequences, as for `count`.
            mates: The second mates, the same number of files or sequences as `reads`.
            interleaved: First and second mates alternate in `reads`.
            any_names: Pair mates by position, even if their names differ.
            reference: The reference as FASTA, which reads in CRAM need.
            output: The file for the kept reads; compressed if the name ends in .gz or .zst. If it ends in .bam, .cram or .sam,
                the alignments of the kept reads are written as they are in the input, with all tags. For pairs, # in the name
                becomes 1 and 2 (in `classify_to` and `extract` _1 and _2, as in Kraken 2); without it and without `output2`, mates are interleaved. None to return the reads.
            output2: The file for second mates.
            output_matching: The file for the removed reads, named as `output`; not with `keep` or `mask`.
            abs_threshold: The minimum number of a read's distinct minimizers that are in the set.
            rel_threshold: The minimum fraction of a read's distinct minimizers that are in the set, 0 to 1.
            prefix_length: Look only at the first bases of each read, this many; 0 looks at all.
            complexity_threshold: Ignore minimizers of the set that are less complex than this, 0 to 1.
            mask: "n" or "lower": keep all reads, and mask the host's stretches of matching ones by N or in lower case.
            keep: Keep the matching reads, and remove the others.
            rename: Replace names by numbers: 1, 2 and so on.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.
            progress: As for `count`.

        Returns:
            Without `output`, `Rows` of the kept reads, mates one after the other: `read` (its name; for a sequence its
            number, from 1), `sequence` and `quality` (null for reads without qualities). With `output`, a dict of
            numbers: reads, bases, kept_reads, kept_bases; a pair is two reads.

        Raises:
            ArgumentError: If an argument is out of range.
            InputError: If a read is invalid; it has `file` and `record`.
            OutputError: If an output cannot be written; then no output appears.
        """
    def _repr_html_(self) -> str: ...

@final
class Report:
    r"""A report of the reads of each taxon, in the format of Kraken 2. Iteration, Polars, pyarrow, DuckDB and pandas take
    its `rows`.

    >>> import merganser, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "sample.kreport")
    >>> lines = ["25.00\t1\t1\tU\t0\tunclassified", "75.00\t3\t0\tR\t1\troot", "75.00\t3\t3\tS\t562\t  Escherichia coli"]
    >>> _ = open(path, "w").write("\n".join(lines) + "\n")
    >>> report = merganser.Report.open(path)
    >>> report.reads, report.unclassified, report.rows["name"]
    (4, 1, ['unclassified', 'root', 'Escherichia coli'])
    """
    @staticmethod
    def open(path: _Path) -> Report:
        """Reads a report with 6 or 8 columns, plain or compressed, or partial results of `classify_to`.

        Args:
            path: The file.

        Returns:
            The report.

        Raises:
            FileNotFound: If there is no such file.
            InputError: If the file is not a report.
        """
    @staticmethod
    def parse(text: str) -> Report:
        r"""Parses the text of a report, as `text` returns it.

        Args:
            text: The text.

        Returns:
            The report.

        Raises:
            InputError: If the text is not a report.

        >>> import merganser
        >>> merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
        <merganser.Report of 3 reads, 2 rows>
        """
    @classmethod
    def merge(cls, reports: Sequence[Report | _Path]) -> Report:
        r"""Merges the reports of several samples into one of all reads.

        Args:
            reports: Reports, or files of reports or partial results. Partial results alone keep the columns of
                minimizers.

        Returns:
            The report of all samples.

        Raises:
            InputError: If a file is not a report, or the reports contradict each other.

        >>> import merganser
        >>> report = merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
        >>> merganser.Report.merge([report, report]).rows["clade_reads"].tolist()
        [6, 6]
        """
    @property
    def rows(self) -> Rows:
        """The rows: `percent` (float64), `clade_reads`, `taxon_reads` (uint64), `rank` (its code, such as "S"), `rank_name`
        ("species", as in the rows of `classify`; null for codes without a rank of their own, such as "S1"), `taxid`
        (uint64), `name` and `depth` (uint32, 0 for the root). Reports with 8 columns also have `minimizers` and `distinct_minimizers`
        (uint64).
        """
    @property
    def reads(self) -> int:
        """The number of all reads; a pair is one read."""
    @property
    def unclassified(self) -> int:
        """The number of reads without a taxon."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_dict(self) -> dict[str, list[Any]]:
        r"""Returns the columns of the rows as lists, by name.

        >>> import merganser
        >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_dict()["name"]
        ['root']
        """
    def to_pandas(self) -> pandas.DataFrame:
        r"""Returns the rows as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.

        >>> import merganser
        >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_pandas().shape
        (1, 8)
        """
    def to_polars(self) -> polars.DataFrame:
        r"""Returns the rows as a `polars.DataFrame`. Needs the package polars.

        >>> import merganser
        >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_polars().shape
        (1, 8)
        """
    def to_arrow(self) -> pyarrow.Table:
        r"""Returns the rows as a `pyarrow.Table`. Needs the package pyarrow.

        >>> import merganser
        >>> merganser.Report.parse("100.00\t3\t3\tR\t1\troot\n").to_arrow().shape
        (1, 8)
        """
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def filter(
        self,
        *,
        taxid: _Taxids | None = None,
        rank: str | None = None,
        exclude: bool = False,
        min_reads: int = 0,
        min_percent: float = 0.0,
    ) -> Report:
        r"""Returns the report of some clades. A clade is kept with all taxa below it, and with the taxa above it as far as
        they have its reads; percentages are those of the kept reads.

        Args:
            taxid: Keep the clades of these taxa: an int or several; 0 for the unclassified reads.
            rank: Keep the clades of taxa of this rank, "S" or "species"; with `taxid`, only those within its clades.
            exclude: Drop the clades that `taxid` and `rank` select, and keep the rest.
            min_reads: Merge clades with fewer reads into the taxon above.
            min_percent: Merge clades with a smaller share of the kept reads, in per cent, into the taxon above.

        Returns:
            A new report.

        Raises:
            ArgumentError: If an argument is out of range.

        >>> import merganser
        >>> text = "25.00\t1\t1\tU\t0\tunclassified\n75.00\t3\t0\tR\t1\troot\n75.00\t3\t3\tS\t562\t  Escherichia coli\n"
        >>> merganser.Report.parse(text).filter(taxid=0, exclude=True).rows["name"]
        ['root', 'Escherichia coli']
        """
    def bracken(
        self,
        distribution: _Path,
        *,
        level: str = "S",
        threshold: int = 10,
    ) -> tuple[Rows, Report]:
        """Estimates the reads of each species, or of another level, with Bracken's method.

        Args:
            distribution: The file with the distribution of the database for reads of about this length (.kmer_distrib).
            level: The rank code of the taxa that reads are assigned to: D, K, P, C, O, F, G, S, or S1 and the like.
            threshold: The reads that a taxon of the level needs to be present.

        Returns:
            The table of taxa of the level, and the report of the level and the taxa above it with the estimated reads.
            The table is `Rows` with the columns `name`, `taxid` (uint64), `level`, `reads`, `added`, `estimated`
            (uint64) and `fraction` (float64, of the estimated reads of all rows).

        Raises:
            ArgumentError: If the level is unknown.
            InputError: If the file is not a distribution, or is of another database.
        """
    def text(self) -> str:
        """Returns the report as text, as `str` does."""
    def mpa(self) -> str:
        r"""Returns the report as a MetaPhlAn-style table: lines of a lineage and the reads of the clade.

        >>> import merganser
        >>> report = merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
        >>> report.mpa()
        's__Escherichia coli\t3\n'
        """
    def krona(self) -> str:
        r"""Returns the report as text for Krona's ktImportText.

        >>> import merganser
        >>> report = merganser.Report.parse("100.00\t3\t0\tR\t1\troot\n100.00\t3\t3\tS\t562\t  Escherichia coli\n")
        >>> report.krona().splitlines()
        ['# reads\ttaxa from the highest to the lowest', '3\tEscherichia coli']
        """
    def html(self, sample: str = "sample", **others: Report) -> str:
        """Returns an HTML page with charts and tables of the report, a single file that needs no network.

        Args:
            sample: The name of the sample.
            others: Further samples on the same page, as `NAME=report`.

        Returns:
            The text of the page.
        """
    def save(self, path: _Path) -> None:
        """Writes the report to a file; compressed if the name ends in .gz.

        Args:
            path: The file.

        Raises:
            OutputError: If the file cannot be written.
        """
    def _repr_html_(self) -> str: ...

def count(
    reads: _Reads,
    k: int = 31,
    *,
    panel: _Path | None = None,
    min_count: int | None = None,
    max_count: int | None = None,
    forward_only: bool = False,
    hpc: bool = False,
    min_qual: int | None = None,
    quality_offset: int = 33,
    storage: Literal["auto", "ram", "disk"] = "auto",
    bins: int | None = None,
    reference: _Path | None = None,
    output: _Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Table:
    """Counts the distinct k-mers of reads or genomes.

    Args:
        reads: A file or several (str or PathLike; FASTA, FASTQ, SAM, BAM, CRAM, compressed or not; "@list.txt" is a
            list of files), or sequences: an iterable of bytes, Arrow strings (a Polars Series, a pyarrow array), or a
            NumPy array (dtype "S", or uint8 with one row per sequence). A str always is the name of a file.
        k: The length of a k-mer in bases, 1 to 128.
        panel: Count only the k-mers of this file: a table in any format, or sequences; None counts all.
        min_count: Keep k-mers that occur at least this often; 1 keeps all. None is 2, or 1 with a panel.
        max_count: Keep k-mers that occur at most this often; None for no limit.
        forward_only: Count each k-mer as written in the read, separately from its reverse complement.
        hpc: Collapse each run of the same base to one base first (homopolymer compression).
        min_qual: Bases with a lower Phred quality break k-mers; None ignores qualities.
        quality_offset: The offset of FASTQ qualities: 33, or 64 for old Illumina (1.3 to 1.7).
        storage: Keep intermediate data in memory while it fits ("auto"), only in memory ("ram"), or on disk ("disk").
        bins: The number of bins of intermediate data; None for an automatic choice.
        reference: The FASTA file that the reads of CRAM files were aligned to.
        output: The file for the table (.mgk); None for a temporary file, which is deleted with the table.
        device: "auto", "cpu", "cuda", or GPUs by number, "cuda:0,1"; None is "auto".
        threads: The number of threads; None for one per processor.
        memory: Bytes, or a size such as "8G"; None for three quarters of the free memory.
        tmp_dir: The folder for temporary files; None for $TMPDIR or /tmp.
        progress: True for a bar, or a function that is called with the name of the stage, the amount done and the
            total (or None).

    Returns:
        The table. It does not depend on threads, memory and device.

    Raises:
        ArgumentError: If an argument is out of range.
        FileNotFound: If an input does not exist.
        InputError: If an input is invalid; it has `file` and `record`.
        OutputError: If the table or a temporary file cannot be written.
        MemoryLimitError: If `memory` is too small.
        DeviceError: If a requested GPU cannot be used.
        KeyboardInterrupt: On Ctrl-C, within a moment; no incomplete file remains.

    >>> import merganser
    >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    >>> table
    <merganser.Table of 3 5-mers>
    """
def search(
    patterns: _Patterns,
    texts: _Texts,
    e: _Edits,
    *,
    hamming: bool = False,
    strand: Literal["both", "forward", "reverse"] = "both",
    match_n: bool = False,
    all_ends: bool = False,
    overhang: float | None = None,
    pam: str | None = None,
    pam_first: bool = False,
    seed: str | None = None,
    reference: _Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Rows:
    """Finds every occurrence of short patterns, such as guides, primers and barcodes, with at most `e` edits.

    Args:
        patterns: The patterns, up to 128 IUPAC letters of DNA each: a str or bytes, or several, whose names are their letters;
            pairs of a name and letters, or a dict of these; or a file (PathLike) of FASTA, or with a pattern per line.
        texts: The genomes or reads to search: files or sequences, as for `count`; also one sequence alone. A str of letters
            of DNA that is not the name of a file is a sequence, too.
        e: The maximum number of edits: an int, or per cent of the pattern's length, "10%".
        hamming: Allow only substitutions, no insertions or deletions; each position is a hit.
        strand: The strands of the texts to search: "both", "forward" or "reverse".
        match_n: Let N in a text match every letter; otherwise it matches none.
        all_ends: Return every end of an alignment, not only the best one of each place.
        overhang: Let patterns extend beyond a text; each letter outside counts as this many edits, 0 to 1.
        pam: The letters that must follow a pattern exactly, such as "NGG" or "NGG,NAG"; they are part of the hit.
        pam_first: The PAM comes before the pattern.
        seed: "12:1" allows only 1 edit in the 12 letters next to the PAM or, without one, at the pattern's end.
        reference: The reference as FASTA, which reads in CRAM need.
        device: As for `count`.
        threads: As for `count`. Threads share long sequences.
        memory: As for `count`. The rows may take as much again.
        tmp_dir: As for `count`.
        progress: As for `count`.

    Returns:
        `Rows` with one row per hit, in the order of the texts, then of start, end, pattern and strand: `text` (uint64, the number of the
        sequence, from 0) or, for files, `sequence` (its name); `start` and `end` (uint64, from 0; the end is exclusive), `pattern` (its
        name), `edits` (uint32), `reverse` (whether the reverse complement of the pattern matches), `cigar` (with =, X, I, D, and S
        outside the text) and `letters` (of the text). CIGAR and letters are in the direction of the text.

    Raises:
        ArgumentError: If an argument is out of range, or a pattern is invalid or would match everywhere.
        InputError: If a text is invalid; it has `file` and `record`.
        MemoryLimitError: If there are too many hits for `memory`.

    >>> import merganser
    >>> hits = merganser.search({"site": "GATTACA"}, ["TTGATTACATT", "TTTGTAGTCTT"], 1)
    >>> for hit in hits:
    ...     print(hit.text, hit.start, hit.end, hit.pattern, hit.edits, hit.reverse, hit.cigar)
    0 2 9 site 0 False 7=
    1 2 9 site 1 True 4=1X2=
    """
def search_to(
    patterns: _Patterns,
    texts: _Texts,
    e: _Edits,
    *,
    output: _Path,
    format: Literal["tsv", "bed", "fasta", "sam", "bam"] | None = None,
    counts: _Path | None = None,
    hamming: bool = False,
    strand: Literal["both", "forward", "reverse"] = "both",
    match_n: bool = False,
    all_ends: bool = False,
    overhang: float | None = None,
    pam: str | None = None,
    pam_first: bool = False,
    seed: str | None = None,
    reference: _Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> dict[str, int]:
    r"""Searches as `search` and writes the hits to a file, with the same bytes as `merganser search`.

    Args:
        patterns: As for `search`; also `texts`, `e`, `hamming`, `strand`, `match_n`, `all_ends`, `overhang`, `pam`, `pam_first`,
            `seed`, `reference`, `device`, `threads`, `memory`, `tmp_dir` and `progress`.
        output: The file for the hits: BED, FASTA, SAM or BAM if the name ends in .bed, .fa, .sam or .bam, else TSV;
            compressed if the name ends in .gz.
        format: "tsv", "bed", "fasta", "sam" or "bam"; None for that of the name of `output`.
        counts: The file for a table of the hits of each pattern by edits, as `search_counts` returns; None for no file.

    Returns:
        A dict of numbers: sequences, letters, hits.

    Raises:
        ArgumentError: If an argument is out of range, or a pattern is invalid or would match everywhere.
        InputError: If a text is invalid; it has `file` and `record`.
        OutputError: If an output cannot be written; then no output appears.

    >>> import merganser, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "hits.bed"
    >>> merganser.search_to({"site": "GATTACA"}, "TTGATTACATT", 1, output=path)
    {'sequences': 1, 'letters': 11, 'hits': 1}
    >>> path.read_text()
    '1\t2\t9\tsite\t0\t+\n'
    """
def search_counts(
    patterns: _Patterns,
    texts: _Texts,
    e: _Edits,
    *,
    hamming: bool = False,
    strand: Literal["both", "forward", "reverse"] = "both",
    match_n: bool = False,
    all_ends: bool = False,
    overhang: float | None = None,
    pam: str | None = None,
    pam_first: bool = False,
    seed: str | None = None,
    reference: _Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Rows:
    """Counts the hits of `search` by pattern and edits. Hits are not kept in memory.

    Args:
        patterns: As for `search`; also `texts`, `e`, `hamming`, `strand`, `match_n`, `all_ends`, `overhang`, `pam`, `pam_first`,
            `seed`, `reference`, `device`, `threads`, `memory`, `tmp_dir` and `progress`.

    Returns:
        `Rows` with one row per pattern: `pattern` (its name), `letters`, `edits_0`, `edits_1` and so on (uint64, the hits with this
        number of edits; null if the pattern may not have it) and `total` (uint64).

    Raises:
        ArgumentError: If an argument is out of range, or a pattern is invalid or would match everywhere.
        InputError: If a text is invalid; it has `file` and `record`.

    >>> import merganser
    >>> list(merganser.search_counts({"site": "GATTACA"}, ["TTGATTACATT", "TTTGTAGTCTT"], 1))
    [Row(pattern='site', letters='GATTACA', edits_0=1, edits_1=1, total=2)]
    """
def amplicons(
    primers: _Primers,
    texts: _Texts,
    e: _Edits,
    *,
    min_amplicon: int = 1,
    max_amplicon: int = 3000,
    hamming: bool = False,
    match_n: bool = False,
    overhang: float | None = None,
    seed: str | None = None,
    reference: _Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Rows:
    """Finds the amplicons of pairs of primers in genomes (in-silico PCR), as `merganser search --primers`.

    An amplicon begins with a hit of one primer on the forward strand and ends with a hit of the other one on the reverse
    strand, which does not overlap it.

    Args:
        primers: A dict of the name of a pair and its two primers, forward and reverse, both from 5' to 3'; several of
            (name, forward, reverse); or a file with a name, a forward and a reverse primer per line, separated by tabs.
        texts: As for `search`; also `hamming`, `match_n`, `overhang`, `seed`, `reference`, `device`, `threads`, `memory`,
            `tmp_dir` and `progress`.
        e: The maximum number of edits of each primer: an int, or per cent of its length, "10%".
        min_amplicon: The minimum length of an amplicon with its primers, in bases.
        max_amplicon: The maximum length of an amplicon with its primers, in bases.

    Returns:
        `Rows` with one row per amplicon: `text` or `sequence`, `start` and `end`, as for `search`; `pair` (its name), `reverse`
        (whether the reverse primer begins it), `length` (uint64), `forward_edits` and `reverse_edits` (uint32), and `amplicon`
        (its letters, from the forward primer on).

    Raises:
        ArgumentError: If an argument is out of range, or a primer is invalid or would match everywhere.
        InputError: If a text is invalid; it has `file` and `record`.
        MemoryLimitError: If there are too many amplicons for `memory`.

    >>> import merganser
    >>> list(merganser.amplicons({"pair": ("ACGTTG", "CCATAG")}, "TTACGTTGAAACTATGGTT", 0))
    [Row(text=0, start=2, end=17, pair='pair', reverse=False, length=15, forward_edits=0, reverse_edits=0, amplicon='ACGTTGAAACTATGG')]
    """
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
) -> Any:
    """Decides which pairs of a read and a segment have at most `e` edits.

    Args:
        reads: A NumPy array (dtype "S", or uint8 with one row per read), Arrow strings (a Polars Series, a pyarrow
            array), or an iterable of bytes. Letters are not copied.
        segments: The segments, one for each read.
        e: The maximum number of edits: an int, or per cent of the read's length as a text, such as "4%".
        method: "exact" (the edit distance); the estimates "gatekeeper" and "snake", which reject no pair within `e`
            edits; or "gatekeeper-original".
        n_mode: The treatment of letters other than A C G T U: "mismatch", "match", or "pass" (such pairs are
            accepted).
        align: "global", or "semiglobal": gaps before and after the read are free.
        threads: The number of threads; None for one per processor.
        progress: As for `count`.

    Returns:
        A NumPy array of int32 with the edits of each pair; `merganser.REJECTED` (-1) if there are more than `e`;
        `merganser.UNDEFINED` (-2) if the pair was passed.

    Raises:
        ArgumentError: If the numbers of reads and segments differ, or if `e` or a name is unknown.
        InputError: If a pair has a byte that is not a letter of DNA; it has `record`, the number of the pair from 1.

    >>> import merganser
    >>> merganser.filter([b"ACGTACGT", b"ACGTACGT"], [b"ACGAACGT", b"TTTTTTTT"], e=2).tolist()
    [1, -1]
    """
def encode_kmers(kmers: _Letters, canonical: bool = False) -> Any:
    """Encodes k-mers of up to 32 bases as integers: 2 bits per base, A C G T = 0 1 2 3, the first base most significant.

    Args:
        kmers: k-mers of one length: an iterable of str and bytes, Arrow strings, or a NumPy array of dtype "S" or "U".
        canonical: Encode the smaller one of each k-mer and its reverse complement, as in canonical tables.

    Returns:
        A NumPy array of uint64 (a `Column` if NumPy is not installed), for `Table.query` and `decode_kmers`.

    Raises:
        ArgumentError: If k-mers differ in length, are longer than 32 bases, or have a letter that is not a base.

    >>> import merganser
    >>> merganser.encode_kmers(["ACGT", "TTTT"]).tolist()
    [27, 255]
    >>> merganser.encode_kmers(["TTTT"], canonical=True).tolist()
    [0]
    """
def decode_kmers(kmers: _Codes, k: int) -> Column:
    """Decodes integers to k-mers of `k` bases, as `encode_kmers` and `Table.batches(kmers="int")` return them.

    Args:
        kmers: A NumPy array or an Arrow array of integers, or an iterable of int.
        k: The length of a k-mer in bases, 1 to 32.

    Returns:
        A `Column` of text, which Polars, pyarrow and DuckDB read without a copy: `polars.Series(column)`. Iteration and
        `tolist()` give str.

    Raises:
        ArgumentError: If k is out of range, or if an integer has more than k bases.

    >>> import merganser
    >>> merganser.decode_kmers([27, 255], k=4).tolist()
    ['ACGT', 'TTTT']
    """
def qv(
    reads: Table | _Reads,
    assemblies: _Paths,
    *,
    output: _Path | None = None,
    maternal: Table | _Reads | None = None,
    paternal: Table | _Reads | None = None,
    k: int | None = None,
    solid: int | None = None,
    hybrid: bool = False,
    hpc: bool = False,
    block_markers: int = 100,
    block_bases: int = 20000,
    device: str | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Rows:
    r"""Evaluates one or more assemblies of one genome by the k-mers of reads, as Merqury does.

    Args:
        reads: The reads of the genome: a `Table` or the file of one, with all k-mers, including those that occur once; or
            files of reads or sequences, as for `count`.
        assemblies: The FASTA file of the assembly, or several of them.
        output: The beginning of the names of Merqury's files, which are written as by `merganser kmers qv`; None for no
            files.
        maternal: The mother's reads, as `reads`; with `paternal`.
        paternal: The father's reads, as `reads`; with `maternal`.
        k: The length of a k-mer, if `reads` is not a table; None for one that fits the size of the largest assembly.
        solid: k-mers that occur more often in the reads belong to the genome; None for the valley of the histogram.
        hybrid: Accept a table without low counts: the union of the tables of two sequencing technologies.
        hpc: Compress homopolymers of reads and assemblies.
        block_markers: Consecutive markers of the other haplotype that end a phase block.
        block_bases: Markers of the other haplotype that span more than this many bases also end a phase block.
        device: As for `count`.
        threads: As for `count`.
        memory: As for `count`.
        tmp_dir: As for `count`.
        progress: As for `count`.

    Returns:
        `Rows` with one row per assembly, and a row "both" for two of them, "all" for more: `assembly` (its name), `k` (uint32), `only_kmers` (those
        in no read, each as often as it occurs) and `kmers` (uint64), `qv` and `error_rate` (float64, null if the assembly
        has no errors or no k-mers), `solid_found` and `solid` (uint64, distinct k-mers of the genome that the assembly
        has, and all of them) and `completeness` (float64, per cent). With parents also `phase_blocks` (uint64),
        `switch_rate` and `hamming_rate` (float64), null for "both" and "all".

    Raises:
        ArgumentError: If an argument is out of range, or does not fit the table.
        InputError: If a file is invalid, or has no k-mers.
        OutputError: If an output cannot be written.

    >>> import merganser, random, tempfile, os
    >>> genome = bytes(random.Random(1).choices(b"ACGT", k=2000))
    >>> table = merganser.count([genome[at : at + 100] for at in range(0, 1901, 5)], k=21, min_count=1)
    >>> path = os.path.join(tempfile.mkdtemp(), "assembly.fa")
    >>> _ = open(path, "wb").write(b">c\n" + genome[:1000] + b"ACGTACGT" + genome[1000:] + b"\n")
    >>> rows = merganser.qv(table, path, solid=1)
    >>> rows["assembly"], rows["only_kmers"].tolist(), rows["qv"].round(1).tolist()
    (['assembly'], [28], [31.7])
    """
@overload
def matrix(
    tables: Sequence[Table | _Path],
    *,
    names: Sequence[str] | None = None,
    output: None = None,
    format: Literal["tsv", "dense"] | None = None,
    presence: bool = False,
    solid: int = 1,
    min_samples: int = 1,
    rescue: int | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> Rows:
    """Makes a matrix of tables: a row for each k-mer, a column for each table.

    Args:
        tables: Tables or the files of tables: at least one.
        names: The names of the columns; None for the names of the files without suffix, and "table1" and so on for
            temporary tables.
        output: The file: .tsv, .tsv.gz, or .mgx for the binary format; None to return the rows.
        format: "tsv" or "dense" (that of .mgx); None for that of the suffix.
        presence: Write 1 instead of the count of a k-mer.
        solid: Counts of this or more are solid.
        min_samples: Keep only k-mers that are solid in this many tables or more.
        rescue: Keep counts that are not solid if the k-mer is solid in this many tables or more; None for none.
        threads: As for `count`.
        memory: As for `count`.
        tmp_dir: As for `count`.
        progress: As for `count`.

    Returns:
        Without `output`, `Rows` with the columns `kmer` and one of uint32 for each table, in the order of the k-mers'
        bases. With `output`, a dict of numbers: rows, kmers (of all tables).

    Raises:
        ArgumentError: If an argument is out of range, or two columns have the same name.
        InputError: If tables were not counted in the same way, or are damaged.
        OutputError: If the output cannot be written.

    >>> import merganser
    >>> one = merganser.count([b"ACGTTA"], k=5, min_count=1)
    >>> other = merganser.count([b"CGTTAC"], k=5, min_count=1)
    >>> rows = merganser.matrix([one, other], names=["one", "other"])
    >>> rows["kmer"], rows["one"].tolist(), rows["other"].tolist()
    (['AACGT', 'CGTTA', 'GTAAC'], [1, 1, 0], [0, 1, 1])
    """
@overload
def matrix(
    tables: Sequence[Table | _Path],
    *,
    names: Sequence[str] | None = None,
    output: _Path,
    format: Literal["tsv", "dense"] | None = None,
    presence: bool = False,
    solid: int = 1,
    min_samples: int = 1,
    rescue: int | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> dict[str, int]:
    """Makes a matrix of tables: a row for each k-mer, a column for each table.

    Args:
        tables: Tables or the files of tables: at least one.
        names: The names of the columns; None for the names of the files without suffix, and "table1" and so on for
            temporary tables.
        output: The file: .tsv, .tsv.gz, or .mgx for the binary format; None to return the rows.
        format: "tsv" or "dense" (that of .mgx); None for that of the suffix.
        presence: Write 1 instead of the count of a k-mer.
        solid: Counts of this or more are solid.
        min_samples: Keep only k-mers that are solid in this many tables or more.
        rescue: Keep counts that are not solid if the k-mer is solid in this many tables or more; None for none.
        threads: As for `count`.
        memory: As for `count`.
        tmp_dir: As for `count`.
        progress: As for `count`.

    Returns:
        Without `output`, `Rows` with the columns `kmer` and one of uint32 for each table, in the order of the k-mers'
        bases. With `output`, a dict of numbers: rows, kmers (of all tables).

    Raises:
        ArgumentError: If an argument is out of range, or two columns have the same name.
        InputError: If tables were not counted in the same way, or are damaged.
        OutputError: If the output cannot be written.

    >>> import merganser
    >>> one = merganser.count([b"ACGTTA"], k=5, min_count=1)
    >>> other = merganser.count([b"CGTTAC"], k=5, min_count=1)
    >>> rows = merganser.matrix([one, other], names=["one", "other"])
    >>> rows["kmer"], rows["one"].tolist(), rows["other"].tolist()
    (['AACGT', 'CGTTA', 'GTAAC'], [1, 1, 0], [0, 1, 1])
    """
def extract(
    lines: _Path,
    reads: _Reads,
    taxids: _Taxids,
    mates: _Reads | None = None,
    *,
    output: _Path,
    interleaved: bool = False,
    any_names: bool = False,
    reference: _Path | None = None,
    output2: _Path | None = None,
    include_children: bool = False,
    include_parents: bool = False,
    exclude: bool = False,
    report: Report | _Path | None = None,
    taxonomy: _Paths | None = None,
    database: Database | _Path | None = None,
    format: Literal["same", "fasta", "sam", "bam", "cram"] | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    tmp_dir: _Path | None = None,
    progress: _Progress | None = None,
) -> dict[str, int]:
    r"""Writes the reads that were assigned to some taxa, as `merganser extract reads` does.

    Args:
        lines: The file of classified reads with one line per read, from `classify_to`, the program or Kraken 2.
        reads: The same files or sequences as for `classify_to`.
        taxids: The taxa: an int or several; 0 for unclassified reads.
        mates: The second mates, the same number of files or sequences as `reads`.
        output: The file for the reads; compressed if the name ends in .gz. If it ends in .bam, .cram or .sam, the
            alignments of the reads are written as they are in the input, with all tags. For pairs, # in the name becomes
            _1 and _2; without it and without `output2`, mates are interleaved.
        interleaved: First and second mates alternate in `reads`.
        any_names: Pair mates by position, even if their names differ.
        reference: The reference as FASTA, which reads in CRAM need.
        output2: The file for second mates.
        include_children: Include the reads of all taxa below the given ones; with `report`, `taxonomy` or `database`.
        include_parents: Include the reads of all taxa above the given ones; with one of these, too.
        exclude: Write the reads of all other taxa instead.
        report: A `Report` or the file of one, which tells the taxa above and below.
        taxonomy: NCBI's taxdump folder, which tells them.
        database: A `Database` or the path of one, which tells them.
        format: "same" as in the input, "fasta", "sam", "bam" or "cram"; None for the format that the name of
            `output` asks for.
        threads: As for `count`.
        memory: As for `count`.
        tmp_dir: As for `count`.
        progress: As for `count`.

    Returns:
        A dict of numbers: reads, extracted, lines, without_line; a pair is one read.

    Raises:
        ArgumentError: If arguments cannot be used together.
        InputError: If reads or lines are invalid, or do not belong together.
        OutputError: If an output cannot be written; then no output appears.

    >>> import merganser, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> reads, lines, output = (os.path.join(folder, name) for name in ("reads.fa", "lines.tsv", "some.fa"))
    >>> _ = open(reads, "w").write(">a\nACGT\n>b\nACGT\n")
    >>> _ = open(lines, "w").write("C\ta\t562\t4\t562:1\nU\tb\t0\t4\t0:0\n")
    >>> merganser.extract(lines, reads, 562, output=output)["extracted"]
    1
    >>> open(output).read()
    '>a\nACGT\n'
    """
def devices() -> list[dict[str, Any]]:
    """Lists the devices: dicts of `device` (the value for `device=`), `name`, `usable`, and `problem` (None if it is
    usable).

    >>> import merganser
    >>> merganser.devices()[0]["device"]
    'cpu'
    """
