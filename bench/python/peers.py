"""Compares look-ups and iteration in merganser's and Jellyfish's Python packages (Debian's python3-dna-jellyfish), on the same k-mers.

    merganser-bench gen reads --genome-bases 5000000 --length 150 --reads 1000000 --substitutions 0.003 --seed 1 -o r.fa
    PYTHONPATH=FOLDER_OF_THE_UNPACKED_WHEEL /usr/bin/python3 bench/python/peers.py r.fa
"""

import random
import subprocess
import sys
import time

import dna_jellyfish
import merganser

K = 31
QUERIES = 1_000_000


def seconds(work):
    """Returns the shortest of three times, and the result."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        result = work()
        took = time.perf_counter() - start
        best = min(best, took)
    return best, result


def main(reads):
    subprocess.run(["jellyfish", "count", "-C", "-m", str(K), "-s", "100M", "-t", "2", "-L", "2", "-o", "r.jf", reads], check=True)
    table = merganser.count(reads, K, min_count=2, threads=2, output="r.mgk")
    dna_jellyfish.MerDNA.k(K)

    def iterate_theirs():
        reader = dna_jellyfish.ReadMerFile("r.jf")
        return sum(count for _, count in reader)

    def iterate_ours():
        return sum(count for _, count in table)

    def iterate_columns():
        return sum(sum(rows["count"]) for rows in table.batches())

    pick = random.Random(1)
    # The k-mers refer to memory of the reader, which must outlive them.
    reader = dna_jellyfish.ReadMerFile("r.jf")
    some = [str(mer) for (mer, _), _ in zip(reader, range(QUERIES // 2))]
    some += ["".join(pick.choices("ACGT", k=K)) for _ in range(QUERIES - len(some))]
    pick.shuffle(some)
    theirs = dna_jellyfish.QueryMerFile("r.jf")

    def query_theirs():
        counts = []
        for kmer in some:
            mer = dna_jellyfish.MerDNA(kmer)
            mer.canonicalize()
            counts.append(theirs[mer])
        return counts

    for name, ours, others in [
        (f"all {len(table):,} k-mers with counts", iterate_ours, iterate_theirs),
        (f"all {len(table):,} k-mers with counts, as columns", iterate_columns, iterate_theirs),
        (f"{QUERIES:,} k-mers as text looked up", lambda: list(table.query(some, threads=2)), query_theirs),
        ("100,000 k-mers, one call each", lambda: [table.get(kmer) for kmer in some[:100_000]], None),
    ]:
        own, found = seconds(ours)
        if not others:
            print(f"{name}: {own:.3f} s, {own * 10:.2f} s for {QUERIES:,}")
            continue
        other, expected = seconds(others)
        assert found == expected, name
        print(f"{name}: {own:.3f} s, Jellyfish {other:.3f} s, ratio {other / own:.1f}")


main(sys.argv[1])
