__author__ = "The Merganser developers"
__copyright__ = "Copyright 2026, The Merganser developers"
__license__ = "MIT"

import shlex
from tempfile import TemporaryDirectory

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
mem_mb = snakemake.resources.get("mem_mb")
memory = f"--memory {mem_mb}M" if mem_mb else ""
summary = snakemake.output.get("summary", "")
if summary:
    summary = f"--json {shlex.quote(summary)}"

reads = snakemake.input.reads
if isinstance(reads, str):
    reads = [reads]
reads = [shlex.quote(name) for name in reads]
if len(reads) == 2:
    reads = ["-1", reads[0], "-2", reads[1]]
elif len(reads) != 1:
    raise ValueError("reads: one file, or two of mates")
reads = " ".join(reads)

with TemporaryDirectory() as tmpdir:
    # Only sorting requires temporary files.
    sort = f"--sort --tmp-dir {tmpdir}" if snakemake.output.get("idx") else ""
    shell(
        "merganser map --threshold {snakemake.params.edits} --threads {snakemake.threads} {memory}"
        " {sort} {extra} {summary}"
        " --output {snakemake.output.alignments:q} {snakemake.input.reference:q} {reads} {log}"
    )
