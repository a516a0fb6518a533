"""Amplicons that begin with their primer: `python amplicon_pairs.py`.

Reads of an amplicon begin with a primer, in which the sequencer makes errors. Of made-up reads, says which have it with at most
two edits, by NumPy arrays that are not copied.
"""

# %%
import numpy as np

import merganser

numbers = np.random.default_rng(1)
BASES = np.frombuffer(b"ACGT", dtype=np.uint8)
primer = np.frombuffer(b"GTGCCAGCMGCCGCGGTAA".replace(b"M", b"A"), dtype=np.uint8)

# %% 10,000 reads of 150 bases, nine of ten with the primer, with an error in 50 bases.
reads = numbers.choice(BASES, size=(10_000, 150))
with_primer = numbers.random(10_000) < 0.9
reads[with_primer, : len(primer)] = primer
errors = numbers.random(reads.shape) < 0.02
reads[errors] = numbers.choice(BASES, size=errors.sum())

# %% A row for each read's beginning, and as many rows of the primer.
beginnings = np.ascontiguousarray(reads[:, : len(primer)])
primers = np.tile(primer, (len(reads), 1))
edits = merganser.filter(beginnings, primers, threshold=2)

# %%
found = edits >= 0
print(f"{found.sum()} of {len(reads)} reads have the primer with at most 2 edits")
print("edits:", dict(zip(*(part.tolist() for part in np.unique(edits[found], return_counts=True)))))
assert abs(found.mean() - 0.9) < 0.03
