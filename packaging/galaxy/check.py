"""Fills in the command templates of the tools, like Galaxy, and runs them with the repository's small data.

Usage: check.py MERGANSER. Requires Cheetah (`pip install ct3`, or with planemo). Fails if the program MERGANSER lacks an option, if a
template lacks a parameter, or if an output is not written.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from Cheetah.Template import Template

HERE = pathlib.Path(__file__).resolve().parent / "tools/merganser"


class Dataset(str):
    """A file with a Galaxy format."""

    ext = "fastq.gz"


def data(name: str, ext: str) -> Dataset:
    """Returns a file of the test data."""
    file = Dataset(HERE / "test-data" / name)
    file.ext = ext
    return file


def cases() -> list:
    """Returns tools with values of their parameters."""
    first, second = data("reads_1.fastq.gz", "fastq.gz"), data("reads_2.fastq.gz", "fastq.gz")
    genome = data("genome.fasta.gz", "fasta.gz")
    single = {"kind": "single", "reads": first}
    pairs = {"kind": "paired", "first": first, "second": second}
    database = data("viruses.mgdb", "data")
    count = {"reads": [first, second], "k": 21, "min_count": 1}
    return [
        ("count", {**count, "forward_only": ""}),
        ("count", {**count, "forward_only": "--forward-only"}),
        ("classify", {"library": single, "database": database, "confidence": 0.1}),
        ("classify", {"library": pairs, "database": database, "confidence": 0}),
        *(("map", {"library": library, "reference": genome, "threshold": 5, "report": report})
          for library in (single, pairs) for report in ("--all", "--best", "--best-strata")),
        ("qv", {"reads": first, "assembly": genome, "k": 21}),
    ]


def check(tool: str, values: dict, program: pathlib.Path) -> None:
    """Checks one case."""
    root = ElementTree.parse(HERE / f"merganser_{tool}.xml").getroot()
    template = root.findtext("command")
    for token in ElementTree.parse(HERE / "macros.xml").getroot().findall("token"):
        template = template.replace(token.get("name"), token.text)
    with tempfile.TemporaryDirectory() as scratch:
        names = [output.get("name") for output in root.findall("outputs/data")]
        files = {name: f"{scratch}/out put {name}" for name in names}
        # Galaxy joins the command to one line.
        command = re.sub(r"\s*\n\s*", " ", str(Template(template, searchList=[{**values, **files}]))).strip()
        done = subprocess.run(
            ["bash", "-c", command], cwd=scratch, capture_output=True, text=True,
            env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        )
        if done.returncode:
            raise SystemExit(f"check.py: {tool}: exit {done.returncode}\n{command}\n{done.stderr}")
        for name, file in files.items():
            if not os.path.exists(file) or not os.path.getsize(file):
                raise SystemExit(f"check.py: {tool}: {name} is missing or empty")
    print(f"{tool}: ok")


def main() -> None:
    """Checks all cases."""
    program = pathlib.Path(sys.argv[1]).absolute()
    for tool, values in cases():
        check(tool, values, program)


main()
