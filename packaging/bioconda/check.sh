#!/bin/bash
# Usage: check.sh MERGANSER
# Fills in the recipe like conda-build, runs its test commands with the program MERGANSER, and makes THIRDPARTY.yml in a
# temporary folder, if cargo-bundle-licenses is on PATH. Requires python3 with jinja2 and yaml, and the sources of the crates,
# but not conda.
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

bash -n "$here/build.sh"
python3 - "$here/meta.yaml" "$root" > "$scratch/commands" <<'PYTHON'
import pathlib, re, sys
import jinja2, yaml

text = pathlib.Path(sys.argv[1]).read_text()
recipe = yaml.safe_load(jinja2.Template(text).render(
    compiler=lambda name: f"{name}-compiler",
    stdlib=lambda name: f"{name}-stdlib",
    pin_subpackage=lambda name, max_pin: f"{name} {max_pin}",
))
root = pathlib.Path(sys.argv[2])
version = re.search(r'^version = "(.*)"', (root / "Cargo.toml").read_text(), re.M)[1]
assert recipe["package"] == {"name": "merganser", "version": version}, recipe["package"]
for name in recipe["about"]["license_file"]:
    assert name == "THIRDPARTY.yml" or (root / name).is_file(), name
print("\n".join(recipe["test"]["commands"]))
PYTHON
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/merganser"
PATH="$scratch/bin:$PATH" bash -euo pipefail -x "$scratch/commands" > "$scratch/log"
if ! command -v cargo-bundle-licenses > /dev/null; then
    echo "bioconda: ok; cargo-bundle-licenses is not installed: THIRDPARTY.yml was not made" >&2
    exit 0
fi
(cd "$root" && cargo-bundle-licenses --format yaml --output "$scratch/THIRDPARTY.yml")
grep -c package_name "$scratch/THIRDPARTY.yml"
if grep -q NOT_FOUND "$scratch/THIRDPARTY.yml"; then
    echo "warning: a licence text is missing: cargo-bundle-licenses reports NOT_FOUND" >&2
fi
echo "bioconda: ok"
