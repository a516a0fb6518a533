#!/usr/bin/env python3
"""Check that `merganser map --preset hla` gives OptiType the hits that RazerS 3 gives it.

OptiType maps each file of reads by itself with
    razers3 -i 97 -m 99999 --distance-range 0 -pa -tc 1 -o OUT.bam REFERENCE READS
and reads three things from the BAM file (pysam_to_hdf in its hlatyper.py): for each record the read, the allele and
the position; for the first record of a read also the tag NM and the length of the read. The signs of the positions
are the hit matrix (read x allele) from which the alleles are called.

This script maps each file of reads with both programs, on one thread, and compares the hit matrix and the NM and length
of each read. Any difference ends it with exit code 1 and one line on stderr. Otherwise it prints a table. Positions
are compared too, but only counted: OptiType uses them only to draw the coverage.

RazerS 3.5.8 misses some hits (23 of 60 in a test) that need all allowed edits and run past the end of an allele (bases
beyond it are insertions, as in 98M3I), and counts one edit too many for some others there. merganser has all of them. With
--pad 10 RazerS 3 gets a reference with 10 Ns around each allele, in which no hit is at the end of a sequence; the Ns count
as mismatches, so the edits are the same. Positions of its hits are shifted back.

Needs samtools (in PATH) and Python 3.7; nothing else.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time


def fail(message):
    sys.exit("optitype.py: " + message)


def run(command, log):
    """Runs a command; returns its seconds and its peak memory in MB."""
    start = time.perf_counter()
    with open(log, "wb") as file:
        try:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        except OSError as error:
            fail("cannot run %s: %s" % (command[0], error.strerror))
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = 0
    if status != 0:
        with open(log, errors="replace") as file:
            last = (file.read().strip().splitlines() or ["no message"])[-1]
        fail("%s failed: %s" % (" ".join(command), last))
    return seconds, usage.ru_maxrss / 1024


class Hits:
    """What OptiType keeps of a BAM file, and all places (read, allele, position, strand, NM)."""

    def __init__(self, bam, shift=0):
        header = subprocess.run(["samtools", "view", "-H", bam], stdout=subprocess.PIPE, check=True, text=True).stdout
        if "\n@PG\t" not in "\n" + header:
            fail("%s has no @PG line, without which OptiType stops" % bam)
        self.matrix = {}
        self.details = {}
        self.places = set()
        self.records = 0
        view = subprocess.Popen(["samtools", "view", bam], stdout=subprocess.PIPE, text=True)
        for line in view.stdout:
            fields = line.rstrip("\n").split("\t")
            read, flag, allele, position = fields[0], int(fields[1]), fields[2], int(fields[3]) - shift
            edits = [int(tag[5:]) for tag in fields[11:] if tag.startswith("NM:i:")]
            if flag & 4 or not edits:
                fail("%s has an unmapped record or one without NM, at which OptiType stops: %s" % (bam, read))
            if read not in self.details:
                # pysam's query_length: 0 if the record has no bases.
                self.details[read] = (edits[0], 0 if fields[9] == "*" else len(fields[9]))
            # The last record of a read and an allele wins.
            self.matrix[read, allele] = position
            self.places.add((read, allele, position, "-" if flag & 16 else "+", edits[0]))
            self.records += 1
        if view.wait() != 0:
            fail("samtools view %s failed" % bam)


def padded(reference, letters, to):
    """Writes a FASTA file with Ns before and after each sequence."""
    with open(reference) as file, open(to, "w") as out:
        first = True
        for line in file:
            if line.startswith(">"):
                out.write(("" if first else "N" * letters + "\n") + line.rstrip("\n") + "\n" + "N" * letters + "\n")
                first = False
            else:
                out.write(line.rstrip("\n") + "\n")
        out.write("N" * letters + "\n")
    return to


def compare(reads, ours, theirs):
    """Fails at a difference that changes what OptiType calls; returns the numbers of other differences."""
    name = os.path.basename(reads)
    for one, other, which in ((ours, theirs, "only merganser"), (theirs, ours, "only razers3")):
        extra = sorted(set(one.matrix) - set(other.matrix))
        if extra:
            fail("%s: %d of %d cells of the hit matrix have a hit in %s, such as %s x %s at %d"
                 % ((name, len(extra), len(one.matrix), which) + extra[0] + (one.matrix[extra[0]],)))
    changed = sorted(read for read, detail in ours.details.items() if theirs.details[read] != detail)
    if changed:
        fail("%s: NM or length differs for %d reads, such as %s: %s with merganser, %s with razers3"
             % (name, len(changed), changed[0], ours.details[changed[0]], theirs.details[changed[0]]))
    moved = sum(theirs.matrix[cell] != position for cell, position in ours.matrix.items())
    return moved, len(ours.places - theirs.places), len(theirs.places - ours.places)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--merganser", default="merganser", metavar="PATH")
    parser.add_argument("--razers3", default="razers3", metavar="PATH")
    parser.add_argument("--reference", required=True, metavar="FASTA")
    parser.add_argument("--identity", default=97, type=int, metavar="N",
                        help="RazerS 3's -i; merganser gets -e (100 - N)%% [default: 97, OptiType's, the preset's]")
    parser.add_argument("--pad", default=0, type=int, metavar="N",
                        help="surround each allele with N Ns, for razers3 only [default: 0]")
    parser.add_argument("--merganser-options", default="", metavar="OPTIONS", help="more options, e.g. --echoes")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the BAM files here")
    parser.add_argument("reads", nargs="+", metavar="READS")
    args = parser.parse_args()
    totals = {"merganser": [0, 0, 0, 0, 0.0, 0.0], "razers3": [0, 0, 0, 0, 0.0, 0.0]}
    differences = [0, 0, 0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        reference = args.reference
        if args.pad:
            reference = padded(args.reference, args.pad, os.path.join(temporary, "padded.fasta"))
        for number, reads in enumerate(args.reads):
            stem = os.path.join(folder, "%d.%s" % (number + 1, os.path.basename(reads)))
            hla = [args.merganser, "map", args.reference, reads, "--preset", "hla", "-t", "1", "--device", "cpu"]
            if args.identity != 97:
                hla += ["-e", "%d%%" % (100 - args.identity)]
            commands = {
                "merganser": hla + args.merganser_options.split() + ["-o", stem + ".merganser.bam"],
                "razers3": [args.razers3, "-i", str(args.identity), "-m", "99999", "--distance-range", "0", "-pa",
                            "-tc", "1", "-o", stem + ".razers3.bam", reference, reads],
            }
            found = {}
            for program, command in commands.items():
                seconds, memory = run(command, stem + "." + program + ".log")
                hits = found[program] = Hits("%s.%s.bam" % (stem, program), args.pad if program == "razers3" else 0)
                total = totals[program]
                total[0] += len(hits.details)
                total[1] += hits.records
                total[2] += len(hits.places)
                total[3] += len(hits.matrix)
                total[4] += seconds
                total[5] = max(total[5], memory)
            for index, count in enumerate(compare(reads, found["merganser"], found["razers3"])):
                differences[index] += count
    print("%-10s %8s %9s %9s %9s %9s %8s" % ("program", "reads", "records", "places", "hits", "seconds", "peak MB"))
    for program, total in totals.items():
        print("%-10s %8d %9d %9d %9d %9.2f %8.0f" % ((program,) + tuple(total)))
    print("The hit matrices are equal. Cells with another position: %d. Places (position, strand, NM) only in"
          " merganser: %d, only in razers3: %d." % tuple(differences))


main()
