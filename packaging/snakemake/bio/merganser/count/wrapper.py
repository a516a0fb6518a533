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
histogram = snakemake.output.get("histogram", "")
if histogram:
    histogram = f"--histogram {shlex.quote(histogram)}"
summary = snakemake.output.get("summary", "")
if summary:
    summary = f"--json {shlex.quote(summary)}"

with TemporaryDirectory() as tmpdir:
    shell(
        "merganser count -k {snakemake.params.k} --threads {snakemake.threads} {memory}"
        " --tmp-dir {tmpdir} {extra} {histogram} {summary}"
        " --output {snakemake.output.table:q} {snakemake.input:q} {log}"
    )
