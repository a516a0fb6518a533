"""Spectra of several samples, with the model of each: `python spectra.py FOLDER reads_1.fq.gz reads_2.fq.gz ...`

Prints what the model says of each sample, and writes its picture, `FOLDER/NAME.svg`.
"""

# %%
import sys
from pathlib import Path

import polars as pl

import merganser

folder, *samples = sys.argv[1:]

# %% Count, and fit.
rows = []
for sample in samples:
    table = merganser.count(sample, k=21, min_count=1)
    name = Path(sample).name.split(".")[0]
    try:
        spectrum = table.spectrum(ploidy=1)
    except merganser.ConfigError as error:
        # The coverage is too low for a model; the histogram is there all the same.
        print(f"{name}: {error}")
        continue
    Path(folder, f"{name}.svg").write_text(spectrum.svg())
    rows.append({"sample": name, "kmers": len(table), **spectrum.to_dict()})

# %% One table of all.
print(pl.DataFrame(rows).drop("doubts") if rows else "no sample has a model")

# %% Histograms side by side, for a plot of one's own.
histograms = [
    pl.DataFrame(merganser.count(sample, k=21, min_count=1).histogram()).with_columns(sample=pl.lit(sample))
    for sample in samples
]
print(pl.concat(histograms).pivot("sample", index="count", values="kmers").sort("count").head())
