#!/bin/bash
# Usage: check.sh MERGANSER
# Runs the scripts of the modules without Nextflow (check.py). Requires python3 with yaml.
set -euo pipefail
exec python3 "$(dirname "$0")/check.py" "$1"
