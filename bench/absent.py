#!/usr/bin/env python3
"""Compares how classifiers treat reads of genera that their databases lack, and of strains that these lack.

    bench/absent.py make --genomes ../shared/data/genomes ../shared/data/left_out more --dir data
    bench/absent.py run --dir data --tools merganser merganser,confidence=0.1 kraken2 --programs kraken2=kraken2/src
    bench/absent.py score --dir data

`bench/absent.tsv` lists the genomes, where they are from, their lineage, a division and a role. In division D (0 to 3),
the genera with this number are absent from the database. It has the genomes with the role `reference` of all other
genera. The reads are those of absent genera (one genome for each species), and those of the genomes with the role
`strain` of the other genera. Divisions 0 and 2 are for choosing rules, 1 and 3 for reporting.

`make` writes, for each division, refs.fa, map (sequence and taxid), and the reads: 100.fa and 150.fa with 1.5 %
substitutions and 0.1 % indels, and long.fa with 4 % errors (40 % substitutions, 30 % insertions, 30 % deletions) and
500 to 10,000 bases, 2,800 on average. The name of a read is a or s (absent genus or strain), the number of the genome,
its taxid and a number, joined by `_`. The bytes depend on the seed only.

`run` makes the databases of each tool with its defaults (that of Kraken 2 with merganser), classifies the reads with two
threads, and writes lines of read and taxid. A tool is NAME or NAME,OPTION=VALUE,…: with the options `--OPTION VALUE` of
its classifier. Names: merganser, merganser-kraken2 (merganser with the database of Kraken 2), kraken2 and
centrifuger. Results that exist are kept.

`score` prints, for both halves of the divisions, each kind of reads and each tool, in percent: for the strains,
sensitivity (right / reads) and precision (right / reads with a taxon of this rank) of species and genera; the share of
reads of absent genera that get a species, and a genus.
"""

import argparse
import gzip
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

TABLE = Path(__file__).resolve().with_suffix(".tsv")
RANKS = ["superkingdom", "phylum", "class", "order", "family", "genus", "species"]
DIVISIONS = range(4)
HALVES = {"choosing": (0, 2), "reporting": (1, 3)}
SETS = ("100", "150", "long")
COMPLEMENT = str.maketrans("ACGT", "TGCA")


class Genome:
    def __init__(self, number: int, line: str):
        self.number = number
        self.file, self.source, lineage, division, self.role = line.rstrip("\n").split("\t")
        self.lineage = tuple(lineage.split(";"))
        self.division = int(division)

    def load(self, folders: list[Path]) -> None:
        """Reads the sequences, in capitals."""
        places = [folder / name for folder in folders for name in (self.file, self.file + ".gz")]
        found = [path for path in places if path.exists()]
        if not found:
            sys.exit(f"{self.file} is in none of the folders of --genomes; it is from: {self.source}")
        with gzip.open(found[0], "rt") if found[0].suffix == ".gz" else found[0].open() as file:
            records = file.read().split(">")[1:]
        sequences = ["".join(record.split("\n")[1:]).upper() for record in records]
        self.sequences = [sequence for sequence in sequences if sequence]


def read_table() -> list[Genome]:
    with TABLE.open() as file:
        return [Genome(number, line) for number, line in enumerate(list(file)[1:])]


def number_taxa(genomes: list[Genome]) -> dict[tuple[str, ...], int]:
    """Numbers all lineages from 2 on; the root is 1."""
    taxa: dict[tuple[str, ...], int] = {}
    for genome in genomes:
        for length in range(1, len(RANKS) + 1):
            taxa.setdefault(genome.lineage[:length], len(taxa) + 2)
    return taxa


def write_taxonomy(taxa: dict[tuple[str, ...], int], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(1, 1, "root", "no rank")]
    rows += [(taxid, taxa.get(path[:-1], 1), path[-1], RANKS[len(path) - 1]) for path, taxid in taxa.items()]
    with (folder / "nodes.dmp").open("w") as nodes, (folder / "names.dmp").open("w") as names:
        for taxid, parent, name, rank in rows:
            fields = [str(taxid), str(parent), rank, "", "0", "0", "11", "0", "0", "0", "0", "0", ""]
            nodes.write("\t|\t".join(fields) + "\t|\n")
            names.write(f"{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|\n")


def mutate(text: str, bases: int, rates: tuple[float, float, float], rng: random.Random) -> str:
    """Copies at most `bases` bases with substitutions, deletions and insertions at these rates."""
    substitutions, deletions, insertions = rates
    read: list[str] = []
    at = 0
    while len(read) < bases and at < len(text):
        draw = rng.random()
        if draw < substitutions:
            read.append(rng.choice([base for base in "ACGT" if base != text[at]]))
            at += 1
        elif draw < substitutions + deletions:
            at += 1
        elif draw < substitutions + deletions + insertions:
            read.append(rng.choice("ACGT"))
        else:
            read.append(text[at])
            at += 1
    return "".join(read)


def long_length(rng: random.Random) -> int:
    while not 500 <= (bases := int(rng.lognormvariate(7.74, 0.7))) <= 10_000:
        pass
    return bases


def simulate(genome: Genome, kind: str, count: int, rng: random.Random):
    """Yields reads that begin at random places of both strands."""
    rates = (0.016, 0.012, 0.012) if kind == "long" else (0.015, 0.0005, 0.0005)
    sequences = genome.sequences
    while count:
        bases = long_length(rng) if kind == "long" else int(kind)
        spare = bases // 10
        starts = [max(0, len(sequence) - bases - spare + 1) for sequence in sequences]
        if not any(starts):
            continue
        sequence = rng.choices(range(len(sequences)), starts)[0]
        start = rng.randrange(starts[sequence])
        text = sequences[sequence][start : start + bases + spare]
        if set(text) - set("ACGT"):
            continue
        if rng.random() < 0.5:
            text = text[::-1].translate(COMPLEMENT)
        yield mutate(text, bases, rates, rng)
        count -= 1


def make(options: argparse.Namespace) -> None:
    genomes = read_table()
    for genome in genomes:
        genome.load(options.genomes)
    taxa = number_taxa(genomes)
    write_taxonomy(taxa, options.dir / "taxonomy")
    for division in DIVISIONS:
        folder = options.dir / str(division)
        folder.mkdir(exist_ok=True)
        with (folder / "refs.fa").open("w") as refs, (folder / "map").open("w") as names:
            for genome in genomes:
                if genome.division != division and genome.role == "reference":
                    for number, sequence in enumerate(genome.sequences):
                        refs.write(f">g{genome.number}_{number}\n{sequence}\n")
                        names.write(f"g{genome.number}_{number}\t{taxa[genome.lineage]}\n")
        for kind in SETS:
            absent, strains = options.long if kind == "long" else options.short
            rng = random.Random(f"{options.seed} {division} {kind}")
            with (folder / f"{kind}.fa").open("w") as file:
                for genome in genomes:
                    is_absent = genome.division == division
                    if is_absent == (genome.role == "strain"):
                        continue
                    name = f"{'a' if is_absent else 's'}_{genome.number}_{taxa[genome.lineage]}"
                    for number, read in enumerate(simulate(genome, kind, absent if is_absent else strains, rng)):
                        file.write(f">{name}_{number}\n{read}\n")


def call(command: list, log: Path, **more) -> None:
    with log.open("a") as messages:
        print(*command, file=messages, flush=True)
        if subprocess.run([str(word) for word in command], stderr=messages, **more).returncode:
            sys.exit(f"{command[0]} failed: see {log}")


def take_columns(source: Path, read: int, taxid: int, result: Path) -> None:
    """Writes two columns of a table: one line for each read. The header of a table is skipped."""
    seen = set()
    with source.open() as rows, result.open("w") as file:
        for row in rows:
            fields = row.rstrip("\n").split("\t")
            if len(fields) > taxid and fields[taxid].isdigit() and fields[read] not in seen:
                seen.add(fields[read])
                file.write(f"{fields[read]}\t{fields[taxid]}\n")


class Tools:
    """The commands of each tool. `build_NAME` makes a database in `folder`; `classify_NAME` writes a result."""

    def __init__(self, programs: dict[str, Path], taxonomy: Path, threads: int):
        self.programs, self.taxonomy, self.threads = programs, taxonomy, threads

    def program(self, tool: str, name: str) -> str:
        """Returns the path of a program: --programs gives it, or the folder that it is in."""
        given = self.programs.get(tool)
        return name if given is None else str(given / name if given.is_dir() else given)

    def build_merganser(self, data: Path, folder: Path, log: Path) -> None:
        call([self.program("merganser", "merganser"), "build", data / "refs.fa", "--taxonomy", self.taxonomy]
             + ["--map", data / "map", "-o", folder / "db.mgdb", "-t", self.threads], log)

    def classify_merganser(self, folder: Path, reads: Path, options: list[str], result: Path, log: Path) -> None:
        database = folder / "db.mgdb" if (folder / "db.mgdb").exists() else folder
        raw = result.with_suffix(".raw")
        call([self.program("merganser", "merganser"), "classify", database, reads, *options, "-o", raw]
             + ["-t", self.threads, "--device", "cpu"], log)
        take_columns(raw, 1, 2, result)

    def build_kraken2(self, data: Path, folder: Path, log: Path) -> None:
        """Makes Kraken 2's database with merganser: the bytes of kraken2-build, which also masks by default."""
        call([self.program("merganser", "merganser"), "build", data / "refs.fa", "--taxonomy", self.taxonomy]
             + ["--map", data / "map", "--format", "kraken2", "-o", folder, "-t", self.threads], log)

    def classify_kraken2(self, folder: Path, reads: Path, options: list[str], result: Path, log: Path) -> None:
        options = ["-T" if option == "--confidence" else option for option in options]
        raw = result.with_suffix(".raw")
        with raw.open("w") as output:
            call([self.program("kraken2", "classify"), "-H", folder / "hash.k2d", "-t", folder / "taxo.k2d"]
                 + ["-o", folder / "opts.k2d", "-g", 2, "-p", self.threads, *options, reads], log, stdout=output)
        take_columns(raw, 1, 2, result)

    def build_centrifuger(self, data: Path, folder: Path, log: Path) -> None:
        call([self.program("centrifuger", "centrifuger-build"), "-r", data / "refs.fa", "-o", folder / "db"]
             + ["--taxonomy-tree", self.taxonomy / "nodes.dmp", "--name-table", self.taxonomy / "names.dmp"]
             + ["--conversion-table", data / "map", "-t", self.threads], log)

    def classify_centrifuger(self, folder: Path, reads: Path, options: list[str], result: Path, log: Path) -> None:
        raw = result.with_suffix(".raw")
        with raw.open("w") as output:
            call([self.program("centrifuger", "centrifuger"), "-x", folder / "db", "-u", reads, "-t", self.threads]
                 + options, log, stdout=output)
        take_columns(raw, 0, 2, result)


# Tools that use the program and the database of others.
PROGRAM_OF = {"merganser-kraken2": "merganser"}
DATABASE_OF = {"merganser-kraken2": "kraken2"}


def run(options: argparse.Namespace) -> None:
    programs = dict(one.split("=", 1) for one in options.programs)
    tools = Tools({name: Path(path) for name, path in programs.items()}, options.dir / "taxonomy", options.threads)
    for division in options.divisions:
        data = options.dir / str(division)
        for tool in options.tools:
            name, *settings = tool.split(",")
            words = [word for one in settings for word in (f"--{one.split('=')[0]}", *one.split("=")[1:])]
            database = DATABASE_OF.get(name, name)
            folder, log = data / database, data / f"{name}.log"
            if not folder.exists():
                if database != "kraken2":
                    folder.mkdir()
                getattr(tools, f"build_{database}")(data, folder, log)
            for kind in options.sets:
                result = data / f"{tool}.{kind}.tsv"
                if not result.exists():
                    classify = getattr(tools, f"classify_{PROGRAM_OF.get(name, name)}")
                    classify(folder, data / f"{kind}.fa", words, result, log)
                    result.with_suffix(".raw").unlink()


def read_lineages(folder: Path) -> dict[str, dict[str, str]]:
    """Returns the taxid at each rank of each taxon's lineage."""
    rows = {fields[0]: fields for line in (folder / "nodes.dmp").open() if (fields := line.split("\t|\t"))}
    lineages: dict[str, dict[str, str]] = {}
    for taxid in rows:
        ranks, at = {}, taxid
        while at != "1":
            ranks.setdefault(rows[at][2], at)
            at = rows[at][1]
        lineages[taxid] = ranks
    return lineages


def count_results(results: list[Path], lineages: dict[str, dict[str, str]]) -> Counter:
    counts: Counter = Counter()
    for result in results:
        for line in result.open():
            read, taxid = line.split()
            kind, _, truth, _ = read.split("_")
            counts[kind] += 1
            found = lineages.get(taxid, {})
            for rank in ("species", "genus"):
                if rank in found:
                    counts[kind, rank] += 1
                    counts[kind, rank, "right"] += found[rank] == lineages[truth][rank]
    return counts


def score(options: argparse.Namespace) -> None:
    lineages = read_lineages(options.dir / "taxonomy")
    heads = ["half", "reads", "tool", "species", "genus", "absent: species", "absent: genus", "strains", "absent"]
    print(*heads, sep="\t")
    for half, divisions in HALVES.items():
        groups = defaultdict(list)
        for division in divisions:
            for path in (options.dir / str(division)).glob("*.tsv"):
                tool, kind = path.stem.rsplit(".", 1)
                groups[kind, tool].append(path)
        for (kind, tool), results in sorted(groups.items()):
            if len(results) < len(divisions):
                continue
            counts = count_results(results, lineages)
            cells = []
            for rank in ("species", "genus"):
                right = 100 * counts["s", rank, "right"]
                cells.append(f"{right / counts['s']:.2f} / {right / max(1, counts['s', rank]):.2f}")
            cells += [f"{100 * counts['a', rank] / counts['a']:.3f}" for rank in ("species", "genus")]
            print(half, kind, tool, *cells, counts["s"], counts["a"], sep="\t")


def pair(text: str) -> tuple[int, int]:
    absent, strains = map(int, text.split(","))
    return absent, strains


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make", help="write references and reads")
    command.add_argument("--genomes", nargs="+", type=Path, required=True, help="folders of the genomes, plain or .gz")
    for name, numbers in (("short", (20_000, 8_000)), ("long", (1_000, 600))):
        command.add_argument(f"--{name}", type=pair, default=numbers, metavar="N,N",
                             help=f"{name} reads of each absent species and of each strain")
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(call=make)
    command = commands.add_parser("run", help="make databases and classify the reads")
    command.add_argument("--tools", nargs="+", required=True, metavar="NAME[,OPTION=VALUE]…")
    command.add_argument("--programs", nargs="*", default=[], metavar="NAME=PATH", help="programs, or folders of them")
    command.add_argument("--divisions", nargs="+", type=int, default=list(DIVISIONS))
    command.add_argument("--sets", nargs="+", default=list(SETS))
    command.add_argument("--threads", type=int, default=2)
    command.set_defaults(call=run)
    command = commands.add_parser("score", help="print the figures")
    command.set_defaults(call=score)
    for command in commands.choices.values():
        command.add_argument("--dir", type=Path, required=True, help="folder of all files")
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
