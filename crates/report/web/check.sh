#!/usr/bin/env bash
# Checks that ../src/page equals the build of the source here.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
node build.mjs "$built"
for file in page.js page.css; do
  cmp "$built/$file" "../src/page/$file" || { echo "$file: run node build.mjs in crates/report/web"; exit 1; }
done
echo "../src/page is up to date"
