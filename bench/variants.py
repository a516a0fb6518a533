#!/usr/bin/env python3
"""Compares variant calls from merganser with those from other mappers, for many lengths of reads and fragments.

    bench/variants.py ref.fa --dir data                         all cells, merganser and bwa-mem2
    bench/variants.py ref.fa --dir data --cells 150/350 --tools merganser bwa-mem2 minimap2 strobealign
    bench/variants.py ref.fa --dir data --programs merganser=target/release/merganser new=/other/merganser

A cell is READ/FRAGMENT or READ/FRAGMENT/adapter: the length of the reads and the mean length of the fragments, in
bases.

1. Two haplotypes of the reference are made from the seed: a SNP every 1,000 bases, an insertion or deletion of 1 to 10
   bases every 7,000, half of them on one haplotype only. The truth is written as VCF and normalised by bcftools.
2. Pairs are sampled from both haplotypes, 30 bases of reads for each base of the reference. ART adds the errors and
   qualities of its profile (HS25 to 150 bases, else MSv3). Fragments may be shorter than their reads: these reads end
   with their fragment, as after trimming or, in a cell with `adapter`, continue with the adapter.
3. Each mapper maps the pairs with its default options. Its time includes sorting and, for merganser, indexing the
   reference. The cells of --time-cells are also mapped with an index that was made before.
4. `bcftools mpileup | bcftools call -mv` and, in the cells of --freebayes-cells, freebayes (QUAL of at least 20) call
   variants, which are normalised and compared with the truth by contig, position and both alleles (second group of
   figures: also by genotype).

Output: one line of tab-separated columns for each cell, caller and tool: recall and precision in percent, the counts
behind them, and the difference to the tool of --peer in percentage points. `below` names the figures that are more than
--tolerance lower than those of the peer. The last lines are for all cells without and with `adapter`. The times of
indexes go to stderr.

Requires art_illumina, samtools, bcftools and the mappers in the PATH or as --programs, and freebayes for its cells.
"""

import argparse
import bisect
import itertools
import math
import os
import random
import shlex
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

READS = (100, 150, 250)
FRAGMENTS = (150, 200, 350, 500, 750)
WITH_ADAPTER = ("100/150/adapter", "150/150/adapter", "250/150/adapter", "150/200/adapter", "250/350/adapter")
CELLS = [f"{read}/{fragment}" for read in READS for fragment in FRAGMENTS] + list(WITH_ADAPTER)

SNP_RATE = 1 / 1000
INDEL_RATE = 1 / 7000
LONGEST_INDEL = 10
INDEL_RATIO = 0.6  # each length of an indel is this much rarer than the length before
MIN_GAP = 2  # bases of the reference between two variants
FRAGMENT_SD = 60
MIN_FRAGMENT = 50
MARGIN = 20  # bases after the end of a read, for its deletions
ADAPTERS = (
    "AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACGATCTCGTATGCCGTCTTCTGCTTG",
    "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGTAGATCTCGGTGGTCGCCGTATCATT",
)
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")
FIGURES = ("snp_recall", "snp_precision", "indel_recall", "indel_precision")
GROUPS = ("", "_gt")  # without and with genotypes

# Commands of the tools by the name of their program; {ref} is the FASTA file.
BWA_MAP = "{program} mem -t {threads} {ref} {r1} {r2} | samtools sort -o {bam} -"
COMMANDS = {
    "merganser": {
        "map": "{program} map {ref} {r1} {r2} --sort -t {threads} --quiet -o {bam}",
        "index": "{program} index {ref} -t {threads} --quiet -o {ref}.mgi",
        "map_indexed": "{program} map {ref}.mgi {r1} {r2} --sort -t {threads} --quiet -o {bam}",
    },
    "bwa-mem2": {"map": BWA_MAP, "index": "{program} index {ref}", "map_indexed": BWA_MAP},
    "bwa": {"map": BWA_MAP, "index": "{program} index {ref}", "map_indexed": BWA_MAP},
    "minimap2": {
        "map": "{program} -ax sr -t {threads} {ref} {r1} {r2} | samtools sort -o {bam} -",
        "index": "{program} -x sr -t {threads} -d {ref}.mmi {ref}",
        "map_indexed": "{program} -ax sr -t {threads} {ref}.mmi {r1} {r2} | samtools sort -o {bam} -",
    },
    "strobealign": {"map": "{program} -t {threads} {ref} {r1} {r2} | samtools sort -o {bam} -"},
}
NORMALISE = "bcftools norm -f {ref} -m- 2> /dev/null"
CALLERS = {
    "bcftools": "bcftools mpileup -f {ref} -a AD,DP {bam} 2> /dev/null | bcftools call -mv | " + NORMALISE,
    # freebayes reports neighbouring variants as one: they are separated, and their indels moved to the left again.
    "freebayes": "freebayes -f {ref} {bam} | bcftools view -i 'QUAL>=20' | " + NORMALISE
    + " | bcftools norm -a --atom-overlaps . 2> /dev/null | " + NORMALISE,
}


@dataclass
class Tool:
    """A mapper: its name in the table, its program, and its commands."""

    name: str
    program: str
    commands: dict[str, str]


@dataclass
class Haplotype:
    """One contig of a haplotype, and where its bases come from."""

    contig: str
    bases: str
    # From each of `starts` on, the element of `shifts` is added to a position to get that of the reference.
    starts: list[int]
    shifts: list[int]

    def to_reference(self, position: int) -> int:
        return position + self.shifts[bisect.bisect_right(self.starts, position) - 1]


@dataclass
class Result:
    """Counts of calls compared with the truth, by kind of variant (snp, indel) and group of figures."""

    found: Counter = field(default_factory=Counter)
    missed: Counter = field(default_factory=Counter)
    false: Counter = field(default_factory=Counter)

    def add(self, other: "Result") -> None:
        self.found += other.found
        self.missed += other.missed
        self.false += other.false

    def figures(self, group: str) -> list[float]:
        """Recall and precision of SNPs, then of indels, in percent."""
        percentages = []
        for kind in ("snp", "indel"):
            found = self.found[kind, group]
            for others in (self.missed, self.false):
                total = found + others[kind, group]
                percentages.append(100 * found / total if total else 100.0)
        return percentages


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def shell(command: str) -> tuple[float, float]:
    """Runs a pipeline; returns its wall time and the CPU time of all its processes, in seconds."""
    start = time.monotonic()
    process = subprocess.Popen(["bash", "-c", f"set -o pipefail; {command}"], stderr=subprocess.PIPE)
    messages = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {command}\n{messages[-2000:]}")
    return wall, usage.ru_utime + usage.ru_stime


def reverse_complement(bases: str) -> str:
    return bases.translate(COMPLEMENT)[::-1]


# The diploid


def read_fasta(path: Path) -> dict[str, str]:
    contigs: dict[str, list[str]] = {}
    with path.open() as file:
        for line in file:
            if line.startswith(">"):
                lines = contigs.setdefault(line[1:].split()[0], [])
            else:
                lines.append(line.strip().upper())
    return {name: "".join(lines) for name, lines in contigs.items()}


def draw_variants(reference: str, rng: random.Random) -> list[tuple[int, str, str, tuple[int, int]]]:
    """Draws variants of one contig: position (from 0), both alleles, and their number on each haplotype."""
    rate = SNP_RATE + INDEL_RATE
    lengths = range(1, LONGEST_INDEL + 1)
    weights = [INDEL_RATIO**length for length in lengths]
    variants = []
    position = 0
    while True:
        position += 1 + int(math.log(1 - rng.random()) / math.log(1 - rate))
        if position + LONGEST_INDEL + 1 >= len(reference):
            return variants
        old = reference[position]
        if rng.random() < SNP_RATE / rate:
            new = rng.choice([base for base in "ACGT" if base != old])
        else:
            length = rng.choices(lengths, weights)[0]
            if rng.random() < 0.5:
                new = old + "".join(rng.choices("ACGT", k=length))
            else:
                old, new = reference[position : position + length + 1], old
        copies = (1, 1) if rng.random() < 0.5 else rng.choice([(1, 0), (0, 1)])
        if set(old) <= set("ACGT"):
            variants.append((position, old, new, copies))
            position += len(old) - 1 + MIN_GAP


def make_haplotype(contig: str, reference: str, variants: list, haplotype: int) -> Haplotype:
    """Puts the variants of one haplotype into a contig."""
    pieces, starts, shifts = [], [0], [0]
    done = length = 0
    for position, old, new, copies in variants:
        if not copies[haplotype]:
            continue
        pieces += [reference[done:position], new]
        length += position - done + len(new)
        done = position + len(old)
        if len(old) != len(new):
            starts.append(length)
            shifts.append(done - length)
    pieces.append(reference[done:])
    return Haplotype(contig, "".join(pieces), starts, shifts)


def make_diploid(contigs: dict[str, str], seed: int, vcf: Path) -> list[list[Haplotype]]:
    """Makes two haplotypes and writes their variants; returns the contigs of each."""
    rng = random.Random(f"diploid {seed}")
    haplotypes: list[list[Haplotype]] = [[], []]
    with vcf.open("w") as file:
        file.write('##fileformat=VCFv4.2\n##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n')
        for name, bases in contigs.items():
            file.write(f"##contig=<ID={name},length={len(bases)}>\n")
        file.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ttruth\n")
        for name, bases in contigs.items():
            variants = draw_variants(bases, rng)
            for position, old, new, copies in variants:
                file.write(f"{name}\t{position + 1}\t.\t{old}\t{new}\t.\t.\t.\tGT\t{copies[0]}|{copies[1]}\n")
            for index, haplotype in enumerate(haplotypes):
                haplotype.append(make_haplotype(name, bases, variants, index))
    return haplotypes


# The reads


def draw_fragments(haplotypes: list[list[Haplotype]], read: int, mean: int, bases: int, rng: random.Random):
    """Yields fragments (name and bases, of either strand) until their reads have `bases` bases."""
    contigs = list(itertools.chain(*haplotypes))
    numbers = [number for number, contigs_of_one in enumerate(haplotypes, start=1) for _ in contigs_of_one]
    weights = list(itertools.accumulate(len(contig.bases) for contig in contigs))
    serial = 0
    while bases > 0:
        length = round(rng.gauss(mean, FRAGMENT_SD))
        which = bisect.bisect_right(weights, rng.randrange(weights[-1]))
        contig = contigs[which]
        if not MIN_FRAGMENT <= length <= len(contig.bases):
            continue
        start = rng.randrange(len(contig.bases) - length + 1)
        fragment = contig.bases[start : start + length]
        strand = rng.choice("+-")
        if "N" in fragment:
            continue
        serial += 1
        bases -= 2 * min(read, length)
        name = f"{serial}_{contig.contig}_{contig.to_reference(start) + 1}_{length}{strand}_h{numbers[which]}"
        yield name, length, fragment if strand == "+" else reverse_complement(fragment)


def simulate(haplotypes: list[list[Haplotype]], cell: str, bases: int, seed: int, folder: Path) -> tuple[Path, Path]:
    """Simulates the pairs of a cell; returns the files of both mates.

    ART reads both ends of an amplicon, which must be longer than its reads. To have fragments of any length, an
    amplicon here is the first mate's strand of a fragment and then the second mate's, each continued by the adapter and
    cut after the length of a read.
    """
    read, mean, *adapter = cell.split("/")
    read, mean = int(read), int(mean)
    rng = random.Random(f"reads {seed} {cell}")
    amplicons = folder / "amplicons.fa"
    lengths = []
    with amplicons.open("w") as file:
        for name, length, fragment in draw_fragments(haplotypes, read, mean, bases, rng):
            ends = []
            for bases_of_mate, sequence in zip((fragment, reverse_complement(fragment)), ADAPTERS):
                end = bases_of_mate[: read + MARGIN] + sequence
                ends.append(end[: read + MARGIN].ljust(read + MARGIN, "A"))
            file.write(f">{name}\n{ends[0]}{reverse_complement(ends[1])}\n")
            lengths.append(read if adapter else length)
    profile = "HS25" if read <= 150 else "MSv3"
    prefix = shlex.quote(f"{folder}/art")
    shell(f"art_illumina -q -na -amp -p -c 1 -ss {profile} -l {read} -i {shlex.quote(str(amplicons))} -o {prefix}"
          f" -rs {rng.randrange(1, 2**30)} > {folder}/art.log")
    amplicons.unlink()
    files = []
    for mate in (1, 2):
        files.append(folder / f"r_{mate}.fq")
        cut_reads(folder / f"art{mate}.fq", lengths, mate, files[-1])
    return files[0], files[1]


def cut_reads(art: Path, lengths: list[int], mate: int, output: Path) -> None:
    """Cuts each read to its length, removes ART's number from the names, and removes the file of ART."""
    with art.open() as file, output.open("w") as out:
        for length in lengths:
            name, bases, _, qualities = (file.readline().strip() for _ in range(4))
            out.write(f"{name.rsplit('-', 1)[0]}/{mate}\n{bases[:length]}\n+\n{qualities[:length]}\n")
        if file.readline():
            sys.exit(f"{art} has more reads than there are fragments")
    art.unlink()


# The comparison


def read_variants(vcf: Path) -> dict[tuple[str, str, str, str], int]:
    """Reads the SNPs and indels of a VCF file: contig, position and alleles, and the number of copies."""
    variants = {}
    with vcf.open() as file:
        for line in file:
            if line.startswith("#"):
                continue
            contig, position, _, old, new, *_, sample = line.rstrip("\n").split("\t")
            copies = sample.split(":")[0].count("1")
            if new[0] in "ACGT" and copies > 0 and (len(old) == 1 or len(old) != len(new)):
                variants[contig, position, old.upper(), new.upper()] = copies
    return variants


def compare(truth: dict, calls: dict) -> Result:
    """Counts found, missed and false variants, with and without their genotypes."""
    result = Result()
    for group in GROUPS:
        expected = set(truth.items()) if group else set(truth)
        called = set(calls.items()) if group else set(calls)
        for counter, variants in (
            (result.found, expected & called),
            (result.missed, expected - called),
            (result.false, called - expected),
        ):
            for variant in variants:
                _, _, old, new = variant[0] if group else variant
                counter["snp" if len(old) == len(new) else "indel", group] += 1
    return result


# The table


def header() -> str:
    columns = ["reference", "cell", "caller", "tool", "wall_s", "cpu_s"]
    columns += [figure + group for group in GROUPS for figure in FIGURES]
    columns += [f"{kind}_{count}" for kind in ("snp", "indel") for count in ("found", "missed", "false")]
    columns += [f"diff_{figure}{group}" for group in GROUPS for figure in FIGURES]
    return "\t".join([*columns, "below"])


def row(labels: list[str], seconds: tuple, result: Result, peer: Result | None, tolerance: float) -> str:
    """Formats the line of one tool in one cell."""
    cells = [*labels, *(f"{value:.2f}" for value in seconds)] if seconds else [*labels, "", ""]
    cells += [f"{value:.2f}" for group in GROUPS for value in result.figures(group)]
    for kind in ("snp", "indel"):
        cells += [str(counter[kind, ""]) for counter in (result.found, result.missed, result.false)]
    below = []
    for group in GROUPS:
        for index, figure in enumerate(FIGURES):
            if peer is None:
                cells.append("")
                continue
            difference = result.figures(group)[index] - peer.figures(group)[index]
            cells.append(f"{difference:+.2f}")
            if difference < -tolerance:
                below.append(figure + group)
    return "\t".join([*cells, ",".join(below)])


# The run


class Run:
    """A reference, its diploid, and the mappers to be compared."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder = arguments.dir
        self.tools = choose_tools(arguments)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ref = self.folder / "ref.fa"
        contigs = read_fasta(arguments.reference)
        self.ref.write_text("".join(f">{name}\n{bases}\n" for name, bases in contigs.items()))
        self.bases = sum(len(bases) for bases in contigs.values())
        shell(f"samtools faidx {self.quoted_ref()}")
        self.haplotypes = make_diploid(contigs, arguments.seed, self.folder / "truth.raw.vcf")
        truth = self.folder / "truth.vcf"
        shell(f"bcftools norm -f {self.quoted_ref()} -m- {self.folder}/truth.raw.vcf > {truth}")
        self.truth = read_variants(truth)
        self.totals: dict[tuple[str, str, str], Result] = {}

    def quoted_ref(self) -> str:
        return shlex.quote(str(self.ref))

    def fill(self, tool: Tool, command: str, reads: tuple = ("", ""), bam: str = "") -> str:
        """Fills the placeholders of a tool's command."""
        return tool.commands[command].format(
            program=tool.program, ref=self.ref, threads=self.arguments.threads, r1=reads[0], r2=reads[1], bam=bam
        )

    def make_indexes(self) -> None:
        """Makes the index of each tool that has one, and notes the time."""
        for tool in self.tools:
            if "index" in tool.commands:
                wall, cpu = shell(self.fill(tool, "index") + " > /dev/null")
                note(f"index\t{tool.name}\twall {wall:.2f} s\tCPU {cpu:.2f} s")

    def run_cell(self, cell: str) -> None:
        """Simulates, maps, calls and compares one cell, and prints its lines."""
        folder = self.folder / cell.replace("/", "_")
        folder.mkdir(exist_ok=True)
        bases = round(self.arguments.coverage * self.bases)
        reads = simulate(self.haplotypes, cell, bases, self.arguments.seed, folder)
        seconds = {}
        for tool in self.tools:
            seconds[tool.name] = shell(self.fill(tool, "map", reads, f"{folder}/{tool.name}.bam"))
        if cell in self.arguments.time_cells:
            self.time_with_index(cell, reads, folder)
        group = "all adapter" if cell.endswith("/adapter") else "all"
        results = self.call_all(cell, folder)
        for (caller, name), result in results.items():
            self.totals.setdefault((group, caller, name), Result()).add(result)
            self.print_row(cell, caller, name, seconds[name], result, results.get((caller, self.arguments.peer)))
        if not self.arguments.keep:
            for path in [*reads, *folder.glob("*.bam*")]:
                path.unlink()

    def time_with_index(self, cell: str, reads: tuple, folder: Path) -> None:
        """Maps again with the index made before, and notes the time."""
        for tool in self.tools:
            if "map_indexed" in tool.commands:
                wall, cpu = shell(self.fill(tool, "map_indexed", reads, f"{folder}/indexed.bam"))
                note(f"{cell}, with an index made before\t{tool.name}\twall {wall:.2f} s\tCPU {cpu:.2f} s")

    def call_all(self, cell: str, folder: Path) -> dict[tuple[str, str], Result]:
        """Calls the variants of all mappers; returns the results by caller and mapper."""
        callers = ["bcftools"] + ["freebayes"] * (cell in self.arguments.freebayes_cells)
        jobs = [(caller, tool.name) for caller in callers for tool in self.tools]
        with ThreadPoolExecutor(self.arguments.threads) as pool:
            results = pool.map(lambda job: self.call(*job, folder), jobs)
            return dict(zip(jobs, results))

    def call(self, caller: str, name: str, folder: Path) -> Result:
        """Calls the variants of one mapper and compares them with the truth."""
        vcf = folder / f"{name}.{caller}.vcf"
        bam = f"{folder}/{name}.bam"
        shell(CALLERS[caller].format(ref=self.ref, bam=bam) + f" > {vcf}")
        return compare(self.truth, read_variants(vcf))

    def print_row(self, cell: str, caller: str, name: str, seconds: tuple, result: Result, peer: Result | None) -> None:
        labels = [self.arguments.reference.name, cell, caller, name]
        print(row(labels, seconds, result, peer, self.arguments.tolerance), flush=True)

    def print_totals(self) -> None:
        """Prints the lines of all cells of a group together."""
        for (group, caller, name), result in self.totals.items():
            peer = self.totals.get((group, caller, self.arguments.peer))
            self.print_row(group, caller, name, (), result, peer)


def choose_tools(arguments: argparse.Namespace) -> list[Tool]:
    """Makes the tools of the command line: those of --tools, and each further name of --programs is a merganser."""
    programs = dict(pair.split("=", 1) for pair in arguments.programs)
    names = list(dict.fromkeys([*arguments.tools, *(name for name in programs if name not in COMMANDS)]))
    tools = []
    for name in names:
        program = shlex.quote(programs.get(name, name))
        tools.append(Tool(name, program, COMMANDS.get(name, COMMANDS["merganser"])))
    return tools


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares variant calls from merganser with those of other mappers.")
    parser.add_argument("reference", type=Path, help="the reference (FASTA)")
    parser.add_argument("--dir", type=Path, required=True, help="folder for all files; its path must have no spaces")
    parser.add_argument("--cells", nargs="+", default=CELLS, metavar="READ/FRAGMENT[/adapter]")
    parser.add_argument("--tools", nargs="+", default=["merganser", "bwa-mem2"], choices=COMMANDS)
    parser.add_argument("--programs", nargs="+", default=[], metavar="TOOL=PATH",
                        help="path of a tool's program; with another name: one more merganser")
    parser.add_argument("--peer", default="bwa-mem2", choices=COMMANDS, help="the tool that all are compared with")
    parser.add_argument("--tolerance", type=float, default=0.2, metavar="POINTS", help="allowed difference to the peer")
    parser.add_argument("--freebayes-cells", nargs="*", default=["150/350"], metavar="CELL")
    parser.add_argument("--time-cells", nargs="*", default=["150/350"], metavar="CELL")
    parser.add_argument("--coverage", type=float, default=30, help="bases of reads for each base of the reference")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2, help="threads of each mapper, and callers at a time")
    parser.add_argument("--keep", action="store_true", help="keep reads and records (calls are always kept)")
    return parser.parse_args()


def main() -> None:
    run = Run(parse_arguments())
    run.make_indexes()
    print(header(), flush=True)
    for cell in run.arguments.cells:
        run.run_cell(cell)
    run.print_totals()


if __name__ == "__main__":
    main()
