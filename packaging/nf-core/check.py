"""Runs the scripts of the modules without Nextflow: fills in their placeholders and tests both branches of conditions.

Usage: check.py MERGANSER, in any folder. Requires python3 with yaml. Fails if the program MERGANSER lacks an option, if a placeholder has
no value, or if an output is not written.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[1] / "tests/data"
MATES = [str(DATA / f"ERR1438863_{mate}.fastq.gz") for mate in (1, 2)]
PHAGE = str(DATA / "genomes/Escherichia_phage_lambda.fna.gz")

# Inputs of a workflow: module, values of the channels, whether reads are single.
CASES = [
    ("count", {"reads": MATES, "k": "21"}, True),
    ("count", {"reads": [PHAGE], "k": "55", "args": "--min-count 1"}, True),
    ("classify", {"reads": MATES, "database": str(DATA / "kraken2")}, False),
    ("classify", {"reads": MATES[:1], "database": str(DATA / "kraken2")}, True),
    ("map", {"reads": MATES, "reference": PHAGE, "edits": "5"}, False),
    ("map", {"reads": MATES[:1], "reference": PHAGE, "edits": "4%"}, True),
    ("qv", {"reads": MATES[:1], "assemblies": [PHAGE], "args": "-k 21"}, True),
]


def section(text: str, begin: str, end: str) -> str:
    """Returns the lines between two headings."""
    return text.split(f"    {begin}:\n", 1)[1].split(f"    {end}", 1)[0]


def fill(template: str, values: dict) -> str:
    """Returns the template with its placeholders filled in."""

    def value(match: re.Match) -> str:
        name, number = re.fullmatch(r"([\w.()]+?)(?:\[(\d)\])?", match[1]).groups()
        given = values[name]
        if number is not None:
            given = given[int(number)]
        return " ".join(given) if isinstance(given, list) else given

    return re.sub(r"\$\{([^}]*)\}", value, template)


def values_of(script: str, given: dict, single: bool, memory: bool) -> dict:
    """Returns the values of the definitions before the command; `single` and `memory` decide its conditions."""
    values = {"task.cpus": "2", "meta.id": "sample", "task.memory.toMega()": "2000", **given}
    answers = {"task.memory": memory, "meta.single_end": single}
    for name, right in re.findall(r"^    (?:def )?(\w+) = (.*)$", script.split('"""')[0], re.M):
        if choice := re.fullmatch(r"""(\S+) \? "(.*)" : ['"](.*)['"]""", right):
            values[name] = fill(choice[2] if answers[choice[1]] else choice[3], values)
        elif default := re.fullmatch(r"""task\.ext\.\w+ \?: ['"](.*)['"]""", right):
            values.setdefault(name, fill(default[1], values))
        else:
            raise SystemExit(f"check.py: cannot read the definition `{name} = {right}`")
    return values


def run(command: str, folder: str, program: pathlib.Path) -> str:
    """Runs a command in a folder, with the program on PATH, like Nextflow."""
    path = f"{program.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=folder, env={**os.environ, "PATH": path},
        capture_output=True, text=True,
    )
    if done.returncode:
        raise SystemExit(f"check.py: exit {done.returncode}\n{command}\n{done.stderr}")
    return done.stdout


def outputs(text: str, prefix: str, folder: str) -> None:
    """Checks that every required output has a file."""
    for pattern, rest in re.findall(r'path\("([^"]+)"\),(.*)', section(text, "output", "when:")):
        pattern = pattern.replace("${prefix}", prefix)
        if "optional: true" not in rest and not glob.glob(pattern, root_dir=folder):
            raise SystemExit(f"check.py: nothing wrote {pattern}: {sorted(os.listdir(folder))}")


def check(module: str, given: dict, single: bool, program: pathlib.Path) -> None:
    """Checks one case: the script with and without a memory limit, the stub, and the version."""
    folder = HERE / "modules/nf-core/merganser" / module
    text = (folder / "main.nf").read_text()
    for kind, memory in (("script", True), ("script", False), ("stub", True)):
        block = section(text, kind, "stub:" if kind == "script" else "}\n")
        values = values_of(block, given, single, memory)
        with tempfile.TemporaryDirectory() as scratch:
            # Groovy reads \\ as \.
            run(fill(block.split('"""')[1], values).replace("\\\\\n", "\\\n"), scratch, program)
            outputs(text, values["prefix"], scratch)
    version = run(re.search(r'eval\("(.*?)"\)', text)[1], ".", program).strip()
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"check.py: {module}: not a version: {version!r}")
    meta = yaml.safe_load((folder / "meta.yml").read_text())
    emitted = set(re.findall(r"emit: (\w+)", text))
    if set(meta["output"]) != emitted:
        raise SystemExit(f"check.py: {module}: meta.yml has {set(meta['output'])}, main.nf {emitted}")
    print(f"{module}: ok ({'single' if single else 'pairs'}, merganser {version})")


def main() -> None:
    """Checks all cases, and the syntax of all YAML files."""
    program = pathlib.Path(sys.argv[1]).absolute()
    for name in HERE.glob("modules/nf-core/merganser/*/*.yml"):
        yaml.safe_load(name.read_text())
    for module, given, single in CASES:
        check(module, given, single, program)


main()
