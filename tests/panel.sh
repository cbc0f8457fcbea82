#!/usr/bin/env bash
# Opens the panel of `funil serve` in Chromium and uses it as visitors do: board, filters, details, reports, hostile data, keyboard,
# phone and desktop, light and dark. Prints a failure and exits with 1. Skipped where Chromium or Node is not installed.
#
#   tests/panel.sh                                      with `cargo run --`
#   tests/panel.sh SCREENSHOTS                          keeps the screenshots in this directory
#   tests/panel.sh SCREENSHOTS target/debug/funil       with an existing command
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

browser=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then browser=$name && break; fi
done
if [[ -z $browser ]] || ! command -v node >/dev/null; then
  echo 'skipped: the panel is tested with Chromium (or Chrome) and Node, and one of them is not installed'
  exit 0
fi

scratch=$(mktemp -d)
shots=${1:-$scratch/screenshots}
funil=("${@:2}")
[[ $# -gt 1 ]] || funil=(cargo run --quiet --)
readonly scratch shots
mkdir -p "$shots"
service=
# Processes of the browser may write to their profile for a moment longer.
trap '[[ -z $service ]] || { kill -INT "$service"; wait "$service"; } 2>/dev/null || true; rm -rf "$scratch" || { sleep 2; rm -rf "$scratch"; }' EXIT

"${funil[@]}" serve --data "$scratch/data" --port 0 >"$scratch/out" 2>"$scratch/log" &
service=$!
until grep -qs '^listening on ' "$scratch/out"; do
  kill -0 "$service" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
  sleep 0.2
done

ADDRESS=$(sed -n 's/^listening on //p' "$scratch/out")
KEY=$(sed -n 's/^ *API key *//p' "$scratch/out")
TOKEN=$(sed -n 's/^ *access token *//p' "$scratch/out")
export ADDRESS DATA=$scratch/data KEY TOKEN
node tests/panel/walk.mjs "$browser" "$scratch/profile" "$shots" "${funil[@]}"
