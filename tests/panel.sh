#!/usr/bin/env bash
# Opens the panel of `funil serve` in Chromium and uses it as visitors do: every action by mouse, finger and keyboard, refusals, two browsers,
# hostile data, a thousand cards, phone and desktop, light and dark. axe judges every view if npm can install it (into CLIENT_TOOLS=DIR,
# else a temporary directory). Prints a failure and exits with 1. Skipped where Chromium or Node is not installed. ONLY=REGEX selects parts.
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
end() {
  if [[ -n $service ]] && kill -INT "$service" 2>/dev/null; then
    for _ in {1..150}; do
      kill -0 "$service" 2>/dev/null || break
      sleep 0.2
    done
    if kill -KILL "$service" 2>/dev/null; then
      echo 'failed: the service did not end within 30 seconds of its interruption' >&2
      exit 1
    fi
  fi
  # Processes of a killed browser may write for a moment longer.
  rm -rf "$scratch" || { sleep 2; rm -rf "$scratch"; }
}
trap end EXIT

"${funil[@]}" serve --data "$scratch/data" --port 0 >"$scratch/out" 2>"$scratch/log" &
service=$!
until grep -qs '^listening on ' "$scratch/out"; do
  kill -0 "$service" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
  sleep 0.2
done

ADDRESS=$(sed -n 's/^listening on //p' "$scratch/out")
KEY=$(sed -n 's/^ *API key *//p' "$scratch/out")
TOKEN=$(sed -n 's/^ *access token *//p' "$scratch/out")
tools=${CLIENT_TOOLS:-$scratch/tools}/panel
[[ -f $tools/node_modules/axe-core/axe.min.js ]] || npm install --silent --no-fund --no-audit --prefix "$tools" axe-core@4.14.1 >/dev/null 2>&1 ||
  echo 'axe-core cannot be installed, so axe judges nothing'
AXE=$tools/node_modules/axe-core/axe.min.js
[[ -f $AXE ]] || AXE=
export ADDRESS AXE DATA=$scratch/data KEY TOKEN
node tests/panel/walk.mjs "$browser" "$scratch/profile" "$shots" "${funil[@]}"
