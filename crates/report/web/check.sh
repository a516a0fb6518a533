#!/usr/bin/env bash
# Whether ../src/page is what the source here builds.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
node build.mjs "$built"
for file in page.js page.css; do
  cmp "$built/$file" "../src/page/$file" || { echo "$file: run node build.mjs in crates/report/web"; exit 1; }
done
echo "the page is what its source builds"
