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
    """Rows with named columns. It exports `__arrow_c_array__` and `__arrow_c_stream__`, so that Polars, pyarrow, DuckDB and pandas take it
    without a copy; `batch[name]` is a column: numbers as a NumPy array (a view), text as a list.
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
    """A column of numbers, whose memory NumPy and Arrow share, where there is no NumPy."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def tolist(self) -> list[Any]:
        """Its numbers as a list."""
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Batches:
    """A table's k-mers in batches: an iterator of `Batch`."""
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...

@final
class Taken:
    """Classified reads in batches: an iterator of `Batch`, and a stream of Arrow, each of which can be taken once."""
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Table:
    """Distinct k-mers with their counts, in the order of their letters, on disk.

    It comes from `count`, `Table.open`, or operations on others, and exports `__arrow_c_stream__`: `polars.DataFrame(table)`,
    `pyarrow.table(table)` and DuckDB take it, as columns `kmer` (string) and `count` (uint32). Threads may share it.

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
        """Opens a table of any format: .mgk, KMC, KFF, FastK, meryl, text (`KMER COUNT` lines). Other formats than .mgk are made
        into a temporary .mgk first.

        Args:
            path: The file; of KMC the name without suffix; of meryl the folder.
            forward_only: Take the k-mers of text and of meryl as they stand, not as canonical ones.
            hpc: Its k-mers are of homopolymer-compressed reads; a .mgk says so itself.
            tmp_dir: Where a temporary table goes.
            memory: Bytes, or a size such as "8G", to make it with.
            threads: To make it with.

        Raises:
            InputError: If it is damaged, or no table.

        >>> import merganser, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "a.mgk")
        >>> merganser.count(["ACGTT"], k=5, min_count=1).save(path)
        >>> merganser.Table.open(path).k
        5
        """
    def save(self, path: _Path, format: _Format | None = None) -> None:
        """Writes the table to a file.

        Args:
            path: The file; by the end of its name mgk, kmc, kff, tsv (also .tsv.gz), fasta or jellyfish, unless `format` says.
            format: One of these.
        """
    @property
    def k(self) -> int:
        """Bases of a k-mer."""
    @property
    def canonical(self) -> bool:
        """Whether a k-mer and its reverse complement were counted together."""
    @property
    def path(self) -> PathLike[str] | None:
        """The table's file; None if it is a temporary one."""
    @property
    def info(self) -> dict[str, Any]:
        """What the table says of itself: k, canonical, min_count, max_count, min_quality, homopolymer_compressed, kmers (distinct ones in
        the table), occurrences (the sum of their counts), largest_count, saturated, distinct_kmers and total_kmers (of the input, before cuts).
        """
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, kmer: str | bytes) -> bool: ...
    def __getitem__(self, kmer: str | bytes) -> int: ...
    def get(self, kmer: str | bytes, default: int = 0) -> int:
        """The count of a k-mer, on either strand if the table is canonical, or `default` if the table has it not.

        Raises:
            ConfigError: If it has not k letters, or one that is no base.
        """
    def query(self, kmers: _Sequences, *, threads: int | None = None) -> Any:
        """The counts of many k-mers, in their order; 0 for those that the table has not.

        The table is loaded into memory by the first call (about 13 bytes a k-mer for k up to 32).

        Args:
            kmers: A NumPy array of uint64 (A C G T = 0 1 2 3, the first base most significant; k up to 32), which is not copied;
                strings of Arrow; or an iterable of str and bytes.
            threads: None for as many as there are processors.

        Returns:
            A NumPy array of uint32, as long as `kmers` (a `Column` where there is no NumPy).

        >>> import merganser
        >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
        >>> table.query(["CGTTA", "TAACG", "AAAAA"]).tolist()
        [2, 2, 0]
        """
    def histogram(self) -> Batch:
        """How many of its k-mers have each count: a `Batch` of columns `count` (uint32, ascending, from 1) and `kmers` (uint64, none 0).

        >>> import merganser
        >>> histogram = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1).histogram()
        >>> histogram["count"].tolist(), histogram["kmers"].tolist()
        ([1, 2], [2, 1])
        """
    def spectrum(
        self, ploidy: int = 2, coverage: float | None = None, exclude_above: int | None = None
    ) -> Spectrum:
        """What the histogram tells of the genome, by GenomeScope's model. The table needs the low counts: `min_count=1`.

        Args:
            ploidy: Haplotypes, 1 to 6.
            coverage: About how often a k-mer occurs that one haplotype has once; None: it is found.
            exclude_above: Leave k-mers out that occur more often than this, of the genome's size, too: those of organelles,
                plasmids and spike-ins; None for no limit.

        Raises:
            ConfigError: If the coverage is too low for a model.
        """
    def batches(self, size: int = 65536, kmers: Literal["str", "int"] = "str") -> Batches:
        """Its k-mers in order, in batches.

        Args:
            size: Rows of a batch; the last one has fewer.
            kmers: "str" for a column `kmer` of letters; "int" for one of uint64 (k up to 32), or two of them, `kmer_high` and
                `kmer_low` (k up to 64).

        Returns:
            An iterator of `Batch`, each with these columns and `count` (uint32).
        """
    def __iter__(self) -> Iterator[Batch]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def union(self, *others: Table, counts: _Counts | None = None, output: _Path | None = None) -> Table:
        """The k-mers of any of the tables.

        Args:
            others: Tables of the same k and strands.
            counts: The count of a k-mer that several have: "min", "max", "sum", "diff", "left" or "right"; None for the sum.
            output: The file of the result; None for a temporary one.
        """
    def intersect(self, *others: Table, counts: _Counts | None = None, output: _Path | None = None) -> Table:
        """The k-mers of all of the tables.

        Args:
            others: Tables of the same k and strands.
            counts: The count of a k-mer that several have: "min", "max", "sum", "diff", "left" or "right"; None for the least.
            output: The file of the result; None for a temporary one.
        """
    def subtract(self, *others: Table, output: _Path | None = None) -> Table:
        """The k-mers that no other table has, with their counts."""
    def reduce(self, min_count: int = 1, max_count: int | None = None, *, output: _Path | None = None) -> Table:
        """The k-mers with counts from `min_count` to `max_count`."""
    def jaccard(self, other: Table) -> float:
        """The Jaccard index of two tables' k-mers, exact: shared ones over those of either."""
    def __or__(self, other: Table) -> Table: ...
    def __and__(self, other: Table) -> Table: ...
    def __sub__(self, other: Table) -> Table: ...

@final
class Spectrum:
    """What a table's histogram tells of a genome, by GenomeScope's model; a notebook shows its picture."""
    @property
    def k(self) -> int:
        """Bases of a k-mer."""
    @property
    def ploidy(self) -> int:
        """Haplotypes."""
    @property
    def genome_size(self) -> float:
        """Bases of one haplotype."""
    @property
    def unique_size(self) -> float:
        """Those of them that stand once in it."""
    @property
    def heterozygosity(self) -> float:
        """Differences between haplotypes, a base."""
    @property
    def coverage(self) -> float:
        """How often a k-mer occurs that one haplotype has once."""
    @property
    def error_rate(self) -> float | None:
        """Errors a base of the reads; None if the table was cut."""
    @property
    def explained(self) -> float:
        """The part of the histogram's variance that the model explains, 0 to 1."""
    @property
    def doubts(self) -> list[str]:
        """What one should know before believing it, a sentence each."""
    @property
    def expected(self) -> list[float]:
        """How many k-mers the model expects of each count, from 0 on."""
    def to_dict(self) -> dict[str, Any]:
        """All values by their names."""
    def svg(self) -> str:
        """The picture of histogram and model, as SVG."""
    def _repr_svg_(self) -> str: ...

@final
class Database:
    """A database of reference genomes (.mgdb), by which reads are classified. Threads may share it."""
    @staticmethod
    def open(path: _Path) -> Database:
        """Opens a database; its file is mapped into memory, and read as it is needed."""
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
        """Builds a database of genomes.

        Args:
            genomes: FASTA files, folders of them, or libraries that `merganser db` made.
            taxonomy: A folder with NCBI's nodes.dmp and names.dmp, or GTDB's files.
            output: The file (.mgdb); None to keep it in memory.
            map: Files that map sequence ids or assemblies to taxids.
            preset: "sensitive", or "metacache" for MetaCache's parameters and rule.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.
        """
    @property
    def path(self) -> PathLike[str] | None:
        """The database's file; None if it is in memory."""
    @property
    def info(self) -> dict[str, Any]:
        """What the database says of itself: k, preset, sequences, left_out, features, bytes, parts."""
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
            reads: Files, or sequences, as for `count`.
            mates: The second mates, as many files or sequences.
            interleaved: First and second mates take turns in `reads`.
            any_names: Mates are taken by their place, whatever their names.
            confidence: The part of a read's features that must be in its taxon's clade, 0 to 1.
            hitmin: Hits that the best candidate needs.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            tmp_dir: As for `count`.

        Returns:
            An iterator of `Batch`, which also exports `__arrow_c_stream__`: columns `read` (its name; the number of a sequence, from
            1), `taxid` (uint32, 0 for unclassified), `name` (of the taxon, null for unclassified) and `length` (bases, "a|b" of a pair).
            Batches are made while others are taken; who takes no more of them ends the run.
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
        """Classifies reads into files, as `merganser classify` does: the same bytes.

        Args:
            output: The reads' lines, as Kraken 2 writes them; None for none. Compressed if the name ends in .gz.
            reads: As for `classify`, as are `mates`, `interleaved`, `any_names`, `confidence`, `hitmin`, `device`, `threads`, `memory` and `tmp_dir`.
            report: The file of Kraken's report.
            progress: As for `count`.

        Returns:
            The report: a `Batch` of columns `percent` (float64), `clade_reads`, `taxon_reads` (uint64), `rank`, `taxid` (uint32), `name`.
        """

@final
class Index:
    r"""The index of a reference, with which reads are mapped. Threads may share it.

    >>> import merganser, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "reference.fa")
    >>> _ = open(path, "w").write(">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")
    >>> hits = merganser.Index.build(path).map(["GATTACAGATCCCGTAA"], threshold=1)
    >>> hits["contig"], hits["position"].tolist(), hits["edits"].tolist(), hits["cigar"]
    (['c'], [10], [0], ['17='])
    """
    @staticmethod
    def open(path: _Path) -> Index:
        """Opens an index (.mgi); its file is mapped into memory, and read as it is needed."""
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
            output: The file (.mgi); None to keep it in memory.
            device: As for `count`.
            threads: As for `count`.
            memory: As for `count`.
            progress: As for `count`.
        """
    @property
    def path(self) -> PathLike[str] | None:
        """The index's file; None if it is in memory."""
    @property
    def contigs(self) -> list[tuple[str, int]]:
        """Names and lengths of the reference's sequences, in bases."""
    @property
    def bases(self) -> int:
        """Bases of all of them."""
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
        """Finds where reads lie in the reference, with at most `threshold` edits, on either strand.

        Args:
            reads: Strings of Arrow, or an iterable of str and bytes.
            threshold: The most edits.
            best: The first hit of a read only.
            best_strata: All hits with as few edits as the first.
            max_hits: The most hits of a read; 0 for no limit.
            threads: None for as many as there are processors.
            progress: True, or a function: it is called, so that it may raise.

        Returns:
            A `Batch` with a row for each hit, by read: `read` (uint64, its number from 0), `contig`, `position` (uint32, from 0),
            `reverse` (its reverse complement lies there), `edits` (uint32), `cigar` (with = and X).
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
        reads: A file or several (str or PathLike; FASTA, FASTQ, SAM, BAM, CRAM, compressed or not; "@list.txt" names a list of
            them), or sequences: an iterable of str and bytes, or strings of Arrow (a Polars Series, a pyarrow array). A str that
            names an existing file is a file; one of nothing but letters is a sequence.
        k: Bases of a k-mer, 1 to 128.
        min_count: Keep k-mers that occur at least so often; 1 keeps all.
        max_count: Keep k-mers that occur at most so often; None for no limit.
        forward_only: Count each k-mer as it stands in the read, apart from its reverse complement.
        hpc: Make one base of each run of the same base first (homopolymer compression).
        min_qual: Bases of a lower quality (Phred) break k-mers; None: qualities are ignored.
        quality_offset: Qualities of FASTQ are Phred+33, or Phred+64 as of old Illumina (1.3 to 1.7): 33 or 64.
        output: The file of the table (.mgk); None for a temporary one, which goes with the table.
        device: "auto", "cpu", "cuda", or GPUs by number, "cuda:0,1"; None is "auto".
        threads: None for as many as there are processors.
        memory: Bytes, or a size such as "8G"; None for three quarters of what is free.
        tmp_dir: Where temporary files go; None for $TMPDIR or /tmp.
        progress: True for a bar, or a function of the stage's name, how much is done, and how much there is (or None).

    Returns:
        The table. The same whatever threads, memory and device.

    Raises:
        ConfigError: If an argument is out of range.
        InputError: If an input is at fault, or a disk is full; it has `file` and `record`.
        KeyboardInterrupt: By Ctrl-C, within a moment; no file is left half written.

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
    """Says which pairs of a read and a segment have at most `threshold` edits.

    Args:
        reads: A NumPy array of bytes (dtype "S", or uint8 with a row for each), strings of Arrow, or an iterable of str and
            bytes; arrays are not copied.
        segments: As many.
        threshold: The most edits.
        method: "exact" (the edit distance), or the estimates "gatekeeper" and "snake", which reject no pair within `threshold`
            edits, or "gatekeeper-original".
        n_mode: What other letters than A C G T U are: "mismatch", "match", or "pass" (such pairs are accepted).
        align: "global", or "semiglobal": gaps before and behind the read are free.
        threads: None for as many as there are processors.

    Returns:
        A NumPy array of int32, one for each pair: its edits; -1 if they are more than `threshold`; -2 if it was passed.

    Raises:
        ConfigError: If there are not as many segments as reads, or a pair has a byte that is no letter of DNA.

    >>> import merganser
    >>> merganser.filter(["ACGTACGT", "ACGTACGT"], ["ACGAACGT", "TTTTTTTT"], threshold=2).tolist()
    [1, -1]
    """
def devices() -> list[dict[str, Any]]:
    """What there is to compute on: dicts of `device` (what `device=` takes), `name`, `usable`, and `problem` (None if it can be used).

    >>> import merganser
    >>> merganser.devices()[0]["device"]
    'cpu'
    """
