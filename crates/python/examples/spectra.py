"""Fits a model to the k-mer spectrum of each sample: `python spectra.py FOLDER reads_1.fq.gz reads_2.fq.gz ...`

Prints the model of each sample and writes its plot, `FOLDER/NAME.svg`.
"""

# %%
import sys
from pathlib import Path

import polars as pl

import merganser

folder, *samples = sys.argv[1:]

# %% Count k-mers and fit the model.
rows = []
for sample in samples:
    table = merganser.count(sample, k=21, min_count=1)
    name = Path(sample).name.split(".")[0]
    try:
        spectrum = table.spectrum(ploidy=1)
    except merganser.InputError as error:
        # The coverage is too low for a model. The histogram is still available.
        print(f"{name}: {error}")
        continue
    Path(folder, f"{name}.svg").write_text(spectrum.svg())
    rows.append({"sample": name, "kmers": len(table), **spectrum.to_dict()})

# %% Print the models of all samples as one table.
print(pl.DataFrame(rows).drop("doubts") if rows else "no sample has a model")

# %% Print the histograms side by side, e.g. for a plot.
histograms = [
    pl.DataFrame(merganser.count(sample, k=21, min_count=1).histogram()).with_columns(sample=pl.lit(sample))
    for sample in samples
]
print(pl.concat(histograms).pivot("sample", index="count", values="kmers").sort("count").head())
