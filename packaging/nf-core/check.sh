#!/bin/bash
# Needs python3 with yaml. Usage: check.sh MERGANSER: runs each module's script by hand (check.py).
set -euo pipefail
exec python3 "$(dirname "$0")/check.py" "$1"
