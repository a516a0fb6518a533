"""Tests of databases and classification."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from program import run

import merganser

READ = b"ATTAAAGGTTTATACCTTCCCAGGTAACAAACCAACCAACTTTCGATCTCTTGTAGATCTGTTCTCTAAACGAACTTTAAAATCTGTGTGGCTGTCACTC"
VIRUS = "Severe acute respiratory syndrome-related coronavirus"


@pytest.fixture(scope="module")
def kraken(data: Path, tmp_path_factory: pytest.TempPathFactory) -> merganser.Database:
    genomes = data / "genomes"
    output = tmp_path_factory.mktemp("kraken") / "folder"
    return merganser.Database.build(
        genomes, data / "taxonomy", map=genomes / "seqid2taxid.map", output=output, format="kraken2"
    )


@pytest.fixture
def pairs(data: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Returns files of pairs of all genomes and of a bacterium that is not in the databases."""
    files = (tmp_path / "reads_1.fq", tmp_path / "reads_2.fq")
    for mate, file in enumerate(files, 1):
        lines = []
        for path in sorted((data / "genomes").glob("*.fna.gz")):
            genome = "".join(gzip.open(path, "rt").read().splitlines()[1:])
            for at in range(0, len(genome) - 500, 500):
                begin = at if mate == 1 else at + 300
                read = genome[begin : begin + 100]
                lines += [f"@{path.name}:{at}/{mate}", read, "+", "I" * len(read)]
        with gzip.open(data / f"ERR1438863_{mate}.fastq.gz", "rt") as bacterium:
            lines += [next(bacterium).rstrip() for _ in range(400)]
        file.write_text("\n".join(lines) + "\n")
    return files


def test_built_databases_are_the_programs(
    database: merganser.Database, kraken: merganser.Database, data: Path, tmp_path: Path
) -> None:
    genomes = data / "genomes"
    common = ["-q", "--taxonomy", data / "taxonomy", "--map", genomes / "seqid2taxid.map", genomes]
    run("build", *common, "-o", tmp_path / "a.mgdb")
    assert database.path is not None
    assert Path(database.path).read_bytes() == (tmp_path / "a.mgdb").read_bytes()
    run("build", *common, "-o", tmp_path / "folder", "--format", "kraken2")
    for name in ("hash.k2d", "opts.k2d", "taxo.k2d"):
        assert (Path(str(kraken.path)) / name).read_bytes() == (tmp_path / "folder" / name).read_bytes()


def test_databases_describe_themselves(database: merganser.Database, kraken: merganser.Database) -> None:
    assert (database.format, kraken.format) == ("mgdb", "kraken2")
    assert database.info["sequences"] == 3 and database.info["k"] == 19
    assert kraken.info["k"] == 35 and kraken.info["minimizer_len"] == 31
    assert "3 sequences" in repr(database) and "Kraken 2" in repr(kraken)
    assert "<table>" in database._repr_html_() and "minimizers" in kraken._repr_html_()


def test_taxa_are_the_programs(database: merganser.Database, kraken: merganser.Database, tmp_path: Path) -> None:
    for each in (database, kraken):
        run("db", "taxa", each.path, "-o", tmp_path / "taxa.tsv")
        frame = pl.read_csv(tmp_path / "taxa.tsv", separator="\t")
        taxa = each.taxa().to_polars()
        assert taxa.columns == frame.columns
        assert taxa.rows() == frame.rows()
    assert set(database.taxa("species")["rank"]) == {"species"}
    with pytest.raises(merganser.ArgumentError, match="rank: give one of"):
        database.taxa("tribus")
    run("db", "taxa", database.path, "--sequences", "-o", tmp_path / "sequences.tsv")
    frame = pl.read_csv(tmp_path / "sequences.tsv", separator="\t")
    assert database.sequences().to_polars().rows() == frame.rows()
    with pytest.raises(merganser.InputError, match="names of sequences"):
        kraken.sequences()


@pytest.mark.parametrize("kind", ["mgdb", "kraken2"])
def test_classified_files_are_the_programs(
    kind: str,
    database: merganser.Database,
    kraken: merganser.Database,
    pairs: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    used = pickle.loads(pickle.dumps({"mgdb": database, "kraken2": kraken}[kind]))
    names = ["lines.tsv.gz", "a.kreport", "a.mpa", "a.krona", "a.tsv", "a.cami", "a.partial"]
    names += ["yes_1.fq", "yes_2.fq", "no_1.fq", "no_2.fq"]
    for folder in ("python", "program"):
        (tmp_path / folder).mkdir()
    own, other = tmp_path / "python", tmp_path / "program"
    report = used.classify_to(
        *pairs,
        output=own / "lines.tsv.gz",
        confidence=0.05,
        report=own / "a.kreport",
        report_minimizer_data=True,
        mpa=own / "a.mpa",
        krona=own / "a.krona",
        abundance=own / "a.tsv",
        cami=own / "a.cami",
        sample_id="s1",
        partial=own / "a.partial",
        classified_out=own / "yes#.fq",
        unclassified_out=own / "no#.fq",
    )
    run(
        *("classify", "-q", used.path, "-1", pairs[0], "-2", pairs[1], "--confidence", "0.05"),
        *("-o", other / "lines.tsv.gz", "--report", other / "a.kreport", "--report-minimizer-data"),
        *("--mpa", other / "a.mpa", "--krona", other / "a.krona", "--abundance", other / "a.tsv"),
        *("--cami", other / "a.cami", "--sample-id", "s1", "--partial", other / "a.partial"),
        *("--classified-out", other / "yes#.fq", "--unclassified-out", other / "no#.fq"),
    )
    for name in names:
        assert (own / name).read_bytes() == (other / name).read_bytes(), name
    assert report == merganser.Report.open(own / "a.kreport")
    frame = report.rows.to_polars()
    assert frame["taxon_reads"].sum() == report.reads == len(gzip.open(own / "lines.tsv.gz").readlines())
    assert frame["distinct_minimizers"].sum() > 0


@pytest.mark.parametrize("kind", ["mgdb", "kraken2"])
def test_streams_have_the_lines(
    kind: str,
    database: merganser.Database,
    kraken: merganser.Database,
    pairs: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    used = {"mgdb": database, "kraken2": kraken}[kind]
    used.classify_to(*pairs, output=tmp_path / "a.tsv")
    lines = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()]
    rows = used.classify(*pairs).to_polars()
    assert rows["read"].to_list() == [line[1] for line in lines]
    assert rows["taxid"].to_list() == [int(line[2]) for line in lines]
    assert rows["length"].to_list() == [line[3] for line in lines]
    assert (rows["name"].is_null() == (rows["taxid"] == 0)).all()
    assert (rows["rank"].is_null() == (rows["taxid"] == 0)).all()
    if kind == "mgdb":
        best = [int(line[4].split(" ")[0].split(":")[1]) for line in lines]
        assert rows["hits"].to_list() == best
        return
    runs = [[run.split(":") for run in line[4].split()] for line in lines]
    kmers = [sum(int(number) for taxid, number in each if taxid not in "A|") for each in runs]
    assert rows["kmers"].to_list() == kmers
    shares = rows.filter(pl.col("taxid") > 0).select(pl.col("hits") / pl.col("kmers")).to_series()
    assert shares.min() > 0 and shares.max() == 1  # type: ignore[operator]
    least = used.classify(*pairs, confidence=0.9, mapped_only=True).to_polars()
    assert len(least) > 0 and (least["hits"] >= 0.9 * least["kmers"]).all()
    quick = used.classify(*pairs, quick=True).to_polars()
    assert quick["hits"].is_null().all()


def test_kraken_2s_own_database_is_read(data: Path) -> None:
    kraken = merganser.Database.open(data / "kraken2")
    assert kraken.format == "kraken2" and len(kraken.taxa()) == kraken.info["taxa"]
    assert len(kraken.classify([READ]).read_all()) == 1


def test_several_databases_are_one(data: Path, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    genomes = data / "genomes"
    files = sorted(path for path in genomes.iterdir() if path.name != "seqid2taxid.map")

    def build(chosen: list[Path], name: str) -> Path:
        options = {"map": genomes / "seqid2taxid.map", "output": tmp_path / name}
        merganser.Database.build(chosen, data / "taxonomy", **options)  # type: ignore[arg-type]
        return tmp_path / name

    paths = [build(files[:1], "a.mgdb"), build(files[1:], "b.mgdb")]
    with merganser.Database.open(build(files, "all.mgdb")) as database:
        expected = database.classify(*pairs).read_all()
    joint = merganser.Database.open(paths)
    assert joint.classify(*pairs).read_all() == expected
    assert joint.path is None and joint.paths == paths
    assert pickle.loads(pickle.dumps(joint)).classify(*pairs).read_all() == expected
    with pytest.raises(merganser.ArgumentError, match="of the same kind"):
        merganser.Database.open([paths[0], data / "kraken2"])
    kraken = data / "kraken2"
    assert merganser.Database.open([kraken, kraken]).format == "kraken2"


def test_all_kinds_of_inputs_give_the_same(
    database: merganser.Database, pairs: tuple[Path, Path], tmp_path: Path
) -> None:
    expected = database.classify(*pairs).read_all()
    reads = [[line.encode() for line in path.read_text().splitlines()[1::4]] for path in pairs]
    interleaved = [read for pair in zip(*reads) for read in pair]
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((reads[0], reads[1]), {}),
        ((pl.Series(reads[0]), pa.array(reads[1])), {}),
        ((interleaved,), {"interleaved": True, "any_names": True}),
        (([str(pairs[0])], [str(pairs[1])]), {"threads": 1, "memory": "2G"}),
    ]
    for positional, options in given:
        found = database.classify(*positional, **options).read_all()
        assert found["taxid"].tolist() == expected["taxid"].tolist()
        assert found["length"] == expected["length"]


def test_pairs_in_bam_are_classified(
    database: merganser.Database, pairs: tuple[Path, Path], data: Path, tmp_path: Path
) -> None:
    genome = data / "genomes" / "Escherichia_phage_lambda.fna.gz"
    with pytest.warns(merganser.ResultWarning, match="on the same strand"):
        merganser.Index.build(genome).map_to(*pairs, e=2, output=tmp_path / "a.bam", best=True)
    used = {"lines": tmp_path / "a.tsv", "classified_out": tmp_path / "a#.fq"}
    database.classify_to(tmp_path / "a.bam", output=used["lines"], classified_out=used["classified_out"])
    run(
        *("classify", "-q", database.path, tmp_path / "a.bam", "-o", tmp_path / "b.tsv"),
        *("--classified-out", tmp_path / "b#.fq"),
    )
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    for path in tmp_path.glob("a*.fq"):
        assert path.read_bytes() == (tmp_path / path.name.replace("a", "b")).read_bytes()
    rows = database.classify(tmp_path / "a.bam").read_all()
    assert rows["length"] == database.classify(*pairs).read_all()["length"]


def test_sequences_are_classified(database: merganser.Database) -> None:
    [batch] = list(database.classify([READ, b"T" * 100]))
    assert batch["name"] == [VIRUS, None] and batch["read"] == ["1", "2"]
    assert batch["rank"] == ["species", None] and batch["hits"][0] > 0
    stream = database.classify([READ])
    assert pa.table(stream).num_rows == 1
    with pytest.raises(RuntimeError, match="read before"):
        pa.table(stream)


def test_wrong_arguments_are_named(database: merganser.Database, kraken: merganser.Database, tmp_path: Path) -> None:
    with pytest.raises(merganser.FileNotFound):
        list(database.classify("/none.fq"))
    cases: list[tuple[merganser.Database, dict[str, Any], str]] = [
        (database, {"confidence": 2.0}, "confidence"),
        (database, {"quick": True}, "quick"),
        (database, {"lowest": "no"}, "lowest"),
        (database, {"hitdiff": 101}, "hitdiff"),
        (database, {"quality_offset": 40}, "quality_offset"),
        (database, {"max_cand": 0}, "max_cand"),
        (database, {"max_cand": -1}, "max_cand"),
        (kraken, {"hitmin": 3}, "hitmin"),
        (database, {"mates": [b"A"], "interleaved": True}, "interleaved"),
        (database, {"mates": tmp_path / "x.fa"}, "mates"),
        (database, {"memory": "many"}, "memory"),
        (database, {"device": "abacus"}, "device"),
    ]
    for used, options, argument in cases:
        with pytest.raises(merganser.ArgumentError) as found:
            used.classify([READ], **options)
        assert found.value.argument == argument
        assert str(found.value).startswith(f"{argument}"), str(found.value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'hit_min'"):
        database.classify([READ], hit_min=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="threads"):
        database.classify([READ], threads="many")  # type: ignore[arg-type]
    with pytest.raises(merganser.ArgumentError, match="metacache"):
        kraken.classify_to([READ], output=tmp_path / "a.tsv", format="metacache")
    with pytest.raises(merganser.ArgumentError, match="tophits: requires"):
        database.classify_to([READ], output=tmp_path / "a.tsv", tophits=True)
    with pytest.raises(merganser.ArgumentError, match="bracken"):
        database.classify_to([READ], bracken_output=tmp_path / "b.tsv")


def test_outputs_replace_no_inputs(database: merganser.Database, tmp_path: Path) -> None:
    reads = tmp_path / "reads.fa"
    reads.write_bytes(b">a\n" + READ + b"\n")
    with pytest.raises(merganser.ArgumentError, match="is an input") as found:
        database.classify_to(reads, output=reads)
    assert found.value.argument == "output"
    with pytest.raises(merganser.ArgumentError, match="is an input"):
        database.classify_to(reads, report=database.path)
    with pytest.raises(merganser.ArgumentError, match="same file"):
        database.classify_to(reads, output=tmp_path / "a", report=tmp_path / "a")
    with pytest.raises(merganser.OutputError):
        database.classify_to(reads, output=tmp_path / "none" / "a.tsv")
    assert reads.read_bytes().startswith(b">a")


def test_metacaches_table_is_written(database: merganser.Database, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    database.classify_to(
        *pairs, output=tmp_path / "a.txt", format="metacache", tophits=True, lineage=True, hits_per_ref=tmp_path / "a.refs"
    )
    run(
        *("classify", "-q", database.path, "-1", pairs[0], "-2", pairs[1], "--format", "metacache"),
        *("--tophits", "--lineage", "-o", tmp_path / "b.txt", "--hits-per-ref", tmp_path / "b.refs"),
    )
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()
    assert (tmp_path / "a.refs").read_bytes() == (tmp_path / "b.refs").read_bytes()


def test_bases_and_segments_are_the_programs(
    database: merganser.Database, kraken: merganser.Database, pairs: tuple[Path, Path], tmp_path: Path
) -> None:
    for used in (database, kraken):
        used.classify_to(
            *pairs,
            report_bases=tmp_path / "a.kreport",
            abundance=tmp_path / "a.tsv",
            bases=True,
            segments_out=tmp_path / "a.segments",
            segment_length=100,
        )
        with pytest.raises(merganser.ArgumentError, match="requires segments_out"):
            used.classify_to(*pairs, report=tmp_path / "c", segment_length=100)
        with pytest.raises(merganser.ArgumentError, match="requires abundance"):
            used.classify_to(*pairs, report=tmp_path / "c", bases=True)
        run(
            *("classify", "-q", used.path, "-1", pairs[0], "-2", pairs[1], "--no-map", "--bases"),
            *("--report-bases", tmp_path / "b.kreport", "--abundance", tmp_path / "b.tsv"),
            *("--segments-out", tmp_path / "b.segments", "--segment-length", "100"),
        )
        for end in ("kreport", "tsv", "segments"):
            assert (tmp_path / f"a.{end}").read_bytes() == (tmp_path / f"b.{end}").read_bytes()
    all_reads = database.classify(*pairs).read_all()["taxid"]
    fewer = database.classify(*pairs, min_fraction=1.0).read_all()["taxid"]
    assert all(taxid in (0, before) for taxid, before in zip(fewer, all_reads, strict=True))


def test_databases_are_closed(data: Path, database: merganser.Database) -> None:
    with merganser.Database.open(str(database.path)) as opened:
        stream = opened.classify([READ])
    assert stream.read_all()["name"] == [VIRUS]
    with pytest.raises(ValueError, match="closed"):
        opened.classify([READ])
    assert "closed" in repr(opened)
    genomes = data / "genomes"
    kept = merganser.Database.build(genomes, data / "taxonomy", map=genomes / "seqid2taxid.map", preset="metacache")
    assert kept.path is None and kept.info["preset"] == "metacache"
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(kept)
    with pytest.raises(merganser.ArgumentError, match="output"):
        merganser.Database.build(genomes, data / "taxonomy", format="kraken2")
    with pytest.raises(TypeError, match="genomes: give one path or several, not int"):
        merganser.Database.build(5, data / "taxonomy")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="genomes: a file must be str or PathLike, not bytes"):
        merganser.Database.build([b"ACGT"], data / "taxonomy")  # type: ignore[list-item]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"minimizer_len": 21}, "minimizer_len"),
        ({"k": 99}, "k"),
        ({"stride": 500}, "stride"),
        ({"parts": 0}, "parts"),
        ({"preset": "fast"}, "preset"),
        ({"max_part_size": "big"}, "max_part_size"),
        ({"masked": "all"}, "masked"),
        ({"format": "kraken2", "output": "x", "k": 20}, "k"),
        ({"format": "kraken2", "output": "x", "window": 100}, "window"),
        ({"format": "kraken"}, "format"),
    ]
    for options, argument in cases:
        with pytest.raises(merganser.ArgumentError) as found:
            merganser.Database.build(genomes, data / "taxonomy", **options)
        assert found.value.argument == argument, str(found.value)


def test_doubts_are_warnings(database: merganser.Database, tmp_path: Path) -> None:
    empty = tmp_path / "empty.fa"
    empty.write_bytes(b"")
    with pytest.warns(merganser.ResultWarning, match="no reads"):
        database.classify(empty).read_all()
    with pytest.warns(merganser.ResultWarning, match="no reads"):
        database.classify_to(empty, output=empty.with_suffix(".tsv"))


def test_runs_end_when_nothing_takes_rows(database: merganser.Database, data: Path) -> None:
    rows = iter(database.classify(data / "ERR1438863_1.fastq.gz"))
    del rows


def test_progress_is_reported(database: merganser.Database, data: Path, tmp_path: Path) -> None:
    stages = []
    database.classify_to(
        data / "ERR1438863_1.fastq.gz", output=tmp_path / "a.tsv", progress=lambda *stage: stages.append(stage)
    )
    assert stages

    given = len(stages)
    rows = database.classify(data / "ERR1438863_1.fastq.gz", progress=lambda *stage: stages.append(stage)).read_all()
    pl.DataFrame(database.classify(data / "ERR1438863_1.fastq.gz", progress=lambda *stage: stages.append(stage)))
    assert len(stages) >= given + 2 and len(rows) > 0

    def stop(*stage: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        database.classify_to(data / "ERR1438863_1.fastq.gz", output=tmp_path / "b.tsv", progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        database.classify(data / "ERR1438863_1.fastq.gz", progress=stop).read_all()
