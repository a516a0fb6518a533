"""MultiQC accepts the files of --multiqc in strict mode."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MERGANSER", str(ROOT / "target/release/merganser"))
MULTIQC = Path(sys.executable).parent / "multiqc"

if not MULTIQC.exists() and not shutil.which("multiqc"):
    pytest.skip("MultiQC is not installed", allow_module_level=True)


def run(*args, cwd=None):
    return subprocess.run([str(arg) for arg in args], check=True, capture_output=True, text=True, timeout=200, cwd=cwd)


def test_multiqc_takes_every_section(tmp_path):
    data = ROOT / "tests/data"
    reads = [data / f"ERR1438863_{mate}.fastq.gz" for mate in (1, 2)]
    strep = data / "streptococcus"
    genome = strep / "Streptococcus_pneumoniae_NCTC7465.fna.gz"
    out = tmp_path / "out"
    out.mkdir()
    run(PROGRAM, "build", "--taxonomy", strep / "taxonomy", "--map", strep / "taxids.tsv", "-o", tmp_path / "s.mgdb", strep)
    run(PROGRAM, "count", "-k", 21, "--min-count", 1, "-o", tmp_path / "r.mgk", *reads, "--multiqc", out / "s", "--sample-name", "s")
    rest = ["--multiqc", out / "s", "--sample-name", "s"]
    run(PROGRAM, "classify", tmp_path / "s.mgdb", "-1", reads[0], "-2", reads[1], "-o", tmp_path / "r.tsv", "--report", out / "s.kreport", *rest)
    run(PROGRAM, "map", genome, "-1", reads[0], "-2", reads[1], "-e", 5, "-o", tmp_path / "r.bam", *rest)
    run(PROGRAM, "kmers", "qv", "--no-plots", "-o", tmp_path / "q", tmp_path / "r.mgk", genome, *rest)
    (tmp_path / "p.tsv").write_text("ACGTACGT\tACGTACGT\n")
    run(PROGRAM, "filter", "-e", 1, tmp_path / "p.tsv", "-o", tmp_path / "d.tsv", *rest)
    run(PROGRAM, "kmers", "histogram", tmp_path / "r.mgk", "-o", out / "s_jf.hist", "--histogram-format", "jellyfish")
    multiqc = str(MULTIQC) if MULTIQC.exists() else "multiqc"
    said = run(multiqc, "--strict", "--no-ansi", ".", cwd=out).stderr
    for section in ["spectrum", "taxa", "qv", "edits", "inserts", "pairs"]:
        assert f"merganser_{section}: Found 1 samples" in said, said
    for module in ["kraken | Found 1", "jellyfish | Found 1"]:
        assert module in said, said
    found = json.loads((out / "multiqc_data/multiqc_data.json").read_text())
    columns = json.dumps(found["report_general_stats_data"])
    for column in ["classified", "mapped", "qv", "accepted"]:
        assert column in columns, columns
