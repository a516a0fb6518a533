"""Finds amplicon reads that begin with their primer: `python amplicon_pairs.py`.

Reads of an amplicon begin with a primer, which may have sequencing errors. The example makes reads and finds those that have the
primer with at most two edits. The NumPy arrays are not copied.
"""

# %%
import numpy as np

import merganser

numbers = np.random.default_rng(1)
BASES = np.frombuffer(b"ACGT", dtype=np.uint8)
primer = np.frombuffer(b"GTGCCAGCMGCCGCGGTAA".replace(b"M", b"A"), dtype=np.uint8)

# %% Make 10,000 reads of 150 bases: nine of ten have the primer, and one of 50 bases is an error.
reads = numbers.choice(BASES, size=(10_000, 150))
with_primer = numbers.random(10_000) < 0.9
reads[with_primer, : len(primer)] = primer
errors = numbers.random(reads.shape) < 0.02
reads[errors] = numbers.choice(BASES, size=errors.sum())

# %% Compare the start of each read with the primer: two arrays with one row per read.
beginnings = np.ascontiguousarray(reads[:, : len(primer)])
primers = np.tile(primer, (len(reads), 1))
edits = merganser.filter(beginnings, primers, e=2)

# %%
found = edits >= 0
print(f"{found.sum()} of {len(reads)} reads have the primer with at most 2 edits")
print("edits:", dict(zip(*(part.tolist() for part in np.unique(edits[found], return_counts=True)))))
assert abs(found.mean() - 0.9) < 0.03
