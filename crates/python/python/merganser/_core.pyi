from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, final

__version__: str

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _NumpyArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Path: TypeAlias = str | PathLike[str]
_Arrow: TypeAlias = _ArrowArray | _ArrowStream
_Reads: TypeAlias = _Path | Iterable[_Path] | Iterable[str | bytes] | _Arrow
_Sequences: TypeAlias = Iterable[str | bytes] | _Arrow | _NumpyArray
_Memory: TypeAlias = int | str
_Progress: TypeAlias = bool | Callable[[str, int, int | None], object]
_Counts: TypeAlias = Literal["min", "max", "sum", "diff", "left", "right"]
_Format: TypeAlias = Literal["mgk", "kmc", "kff", "tsv", "fasta", "jellyfish"]

@final
class Batch:
    """Rows with named columns. `__arrow_c_array__` and `__arrow_c_stream__` export them to Polars, pyarrow, DuckDB and
    pandas without a copy; `batch[name]` is a column: numbers as a NumPy array (a view), text as a list.
    """
    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Any: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Column:
    """A column of numbers for Arrow and NumPy, without a copy. Methods return it instead of a NumPy array if NumPy is
    not installed.
    """
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def tolist(self) -> list[Any]:
        """Returns the numbers as a list."""
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Batches:
    """An iterator of `Batch` with the k-mers of a table."""
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...

@final
class Taken:
    """An iterator of `Batch` with classified reads, which can also be exported as an Arrow stream. It can be consumed
    once.
    """
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Table:
    """Distinct k-mers with their counts, in lexicographic order, on disk.

    Made by `count`, `Table.open`, or operations on other tables. It exports `__arrow_c_stream__` for
    `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB, with columns `kmer` (string) and `count` (uint32).
    Threads may share it.

    >>> import merganser
    >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
    >>> len(table), table["CGTTA"], "AAAAA" in table
    (3, 2, False)
    """
    @staticmethod
    def open(
        path: _Path,
        *,
        forward_only: bool = False,
        hpc: bool = False,
        tmp_dir: _Path | None = None,
        memory: _Memory | None = None,
        threads: int | None = None,
    ) -> Table:
        """Opens a table of any format: .mgk, KMC, KFF, FastK, meryl, text (`KMER COUNT` lines). Tables of other formats
        than .mgk are first converted to a temporary .mgk file.

        Args:
            path: The file; for KMC the name without suffix; for meryl the folder.
            forward_only: Take the k-mers of text and meryl as written, not as canonical.
            hpc: The k-mers are from homopolymer-compressed reads; an .mgk file contains this information.
            tmp_dir: The folder for the temporary table.
            memory: The memory for the conversion: bytes, or a size such as "8G".
            threads: The number of threads for the conversion.

        Raises:
            InputError: If the file is damaged or not a table.

        >>> import merganser, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "a.mgk")
        >>> merganser.count(["ACGTT"], k=5, min_count=1).save(path)
        >>> merganser.Table.open(path).k
        5
        """
    def save(self, path: _Path, format: _Format | None = None) -> None:
        """Writes the table to a file.

        Args:
            path: The file. Its extension selects the format, unless `format` is given: mgk, kmc, kff, tsv (also
                .tsv.gz), fasta, jellyfish.
            format: One of these formats.
        """
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
        """A summary of the table: k, canonical, min_count, max_count, min_quality, homopolymer_compressed, kmers (the
        number of distinct k-mers in the table), occurrences (the sum of their counts), largest_count, saturated,
        distinct_kmers and total_kmers (of the input, before filtering by count).
        """
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, kmer: str | bytes) -> bool: ...
    def __getitem__(self, kmer: str | bytes) -> int: ...
    def get(self, kmer: str | bytes, default: int = 0) -> int:
        """Returns the count of a k-mer, on either strand if the table is canonical, or `default` if the table does not
        have the k-mer.

        Raises:
            ConfigError: If it does not have k letters, or if one of them is not a base.
        """
    def query(self, kmers: _Sequences, *, threads: int | None = None) -> Any:
        """Returns the counts of many k-mers, in their order; 0 for k-mers that the table does not have.

        The first call loads the table into memory (about 13 bytes per k-mer for k up to 32).

        Args:
            kmers: A NumPy array of uint64 (A C G T = 0 1 2 3, the first base most significant; k up to 32), which is
                not copied; Arrow strings; or an iterable of str and bytes.
            threads: The number of threads; None for one per processor.

        Returns:
            A NumPy array of uint32, as long as `kmers` (a `Column` if NumPy is not installed).

        >>> import merganser
        >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
        >>> table.query(["CGTTA", "TAACG", "AAAAA"]).tolist()
        [2, 2, 0]
        """
    def histogram(self) -> Batch:
        """Returns the number of k-mers with each count: a `Batch` with columns `count` (uint32, from 1, ascending) and
        `kmers` (uint64, never 0).

        >>> import merganser
        >>> histogram = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1).histogram()
        >>> histogram["count"].tolist(), histogram["kmers"].tolist()
        ([1, 2], [2, 1])
        """
    def spectrum(
        self, ploidy: int = 2, coverage: float | None = None, exclude_above: int | None = None
    ) -> Spectrum:
        """Fits the model of GenomeScope to the histogram. The table must have the low counts: use `min_count=1`.

        Args:
            ploidy: The number of haplotypes, 1 to 6.
            coverage: The approximate number of occurrences of a k-mer that is in one haplotype once; None to estimate
                it.
            exclude_above: Ignore k-mers that occur more often than this, also in the genome size: those of
                organelles, plasmids and spike-ins; None for no limit.

        Raises:
            ConfigError: If the coverage is too low for a model.
        """
    def batches(self, size: int = 65536, kmers: Literal["str", "int"] = "str") -> Batches:
        """Returns the k-mers in ascending order, in batches.

        Args:
            size: The number of rows of a batch; the last one may have fewer.
            kmers: "str" for a column `kmer` of letters; "int" for a column `kmer` of uint64 (k up to 32), or for two
                of them, `kmer_high` and `kmer_low` (k up to 64).

        Returns:
            An iterator of `Batch` with these columns and `count` (uint32).
        """
    def __iter__(self) -> Iterator[Batch]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def union(self, *others: Table, counts: _Counts | None = None, output: _Path | None = None) -> Table:
        """Returns the k-mers that are in any of the tables.

        Args:
            others: Tables with the same k and strands.
            counts: The count of a k-mer that is in several tables: "min", "max", "sum", "diff", "left" or "right";
                None for the sum.
            output: The file for the result; None for a temporary one.
        """
    def intersect(self, *others: Table, counts: _Counts | None = None, output: _Path | None = None) -> Table:
        """Returns the k-mers that are in all of the tables.

        Args:
            others: Tables with the same k and strands.
            counts: The count of a k-mer: "min", "max", "sum", "diff", "left" or "right"; None for the minimum.
            output: The file for the result; None for a temporary one.
        """
    def subtract(self, *others: Table, output: _Path | None = None) -> Table:
        """Returns the k-mers that are in no other table, with their counts."""
    def reduce(self, min_count: int = 1, max_count: int | None = None, *, output: _Path | None = None) -> Table:
        """Returns the k-mers with counts from `min_count` to `max_count`."""
    def jaccard(self, other: Table) -> float:
        """Returns the exact Jaccard index of the k-mers of two tables: the number in both divided by the number in
        either.
        """
    def __or__(self, other: Table) -> Table: ...
    def __and__(self, other: Table) -> Table: ...
    def __sub__(self, other: Table) -> Table: ...

@final
class Spectrum:
    """The model that GenomeScope fits to the histogram of a table. Notebooks show its plot."""
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
    def _repr_svg_(self) -> str: ...

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
    ) -> Taken:
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
    ) -> Batch:
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
    ) -> Batch:
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
            list of files), or sequences: an iterable of str and bytes, or Arrow strings (a Polars Series, a pyarrow
            array). A str that is the name of an existing file is a file; otherwise, a str of only letters is a
            sequence.
        k: The length of a k-mer in bases, 1 to 128.
        min_count: Keep k-mers that occur at least this often; 1 keeps all.
        max_count: Keep k-mers that occur at most this often; None for no limit.
        forward_only: Count each k-mer as written in the read, separately from its reverse complement.
        hpc: Collapse each run of the same base to one base first (homopolymer compression).
        min_qual: Bases with a lower Phred quality break k-mers; None ignores qualities.
        quality_offset: The offset of FASTQ qualities: 33, or 64 for old Illumina (1.3 to 1.7).
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
        ConfigError: If an argument is out of range.
        InputError: If an input is invalid, or a disk is full; it has `file` and `record`.
        KeyboardInterrupt: On Ctrl-C, within a moment; no incomplete file remains.

    >>> import merganser
    >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
    >>> table
    <merganser.Table of 3 5-mers>
    """
def filter(
    reads: _Sequences,
    segments: _Sequences,
    threshold: int,
    *,
    method: Literal["exact", "gatekeeper", "snake", "gatekeeper-original"] = "exact",
    n_mode: Literal["mismatch", "match", "pass"] = "mismatch",
    align: Literal["global", "semiglobal"] = "global",
    threads: int | None = None,
) -> Any:
    """Decides which pairs of a read and a segment have at most `threshold` edits.

    Args:
        reads: A NumPy array of bytes (dtype "S", or uint8 with one row per read), Arrow strings, or an iterable of
            str and bytes. Arrays are not copied.
        segments: The segments, one for each read.
        threshold: The maximum number of edits.
        method: "exact" (the edit distance); the estimates "gatekeeper" and "snake", which reject no pair within
            `threshold` edits; or "gatekeeper-original".
        n_mode: The treatment of letters other than A C G T U: "mismatch", "match", or "pass" (such pairs are
            accepted).
        align: "global", or "semiglobal": gaps before and after the read are free.
        threads: The number of threads; None for one per processor.

    Returns:
        A NumPy array of int32 with the edits of each pair; -1 if there are more than `threshold`; -2 if the pair was
        passed.

    Raises:
        ConfigError: If the numbers of reads and segments differ, or if a pair has a byte that is not a letter of DNA.

    >>> import merganser
    >>> merganser.filter(["ACGTACGT", "ACGTACGT"], ["ACGAACGT", "TTTTTTTT"], threshold=2).tolist()
    [1, -1]
    """
def devices() -> list[dict[str, Any]]:
    """Lists the devices: dicts of `device` (the value for `device=`), `name`, `usable`, and `problem` (None if it is
    usable).

    >>> import merganser
    >>> merganser.devices()[0]["device"]
    'cpu'
    """
