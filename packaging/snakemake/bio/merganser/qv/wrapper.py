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
prefix = str(snakemake.output.qv)
if not prefix.endswith(".qv"):
    raise ValueError("qv: the name must end in .qv")
prefix = prefix[: -len(".qv")]

with TemporaryDirectory() as tmpdir:
    shell(
        "merganser kmers qv --threads {snakemake.threads} {memory} --tmp-dir {tmpdir} {extra}"
        " {summary} --output {prefix:q} {snakemake.input.reads:q} {snakemake.input.assemblies:q}"
        " {log}"
    )
