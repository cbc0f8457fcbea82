#!/usr/bin/env bash
# Compares the time zones of Funil with the newest release of IANA's, the package `tzdata` of PyPI (C-109). Exits with 1 if a
# clock changes differently in the next two years, with 2 if the package cannot be downloaded. Needs Python 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv" &&
  "$scratch/venv/bin/python" -m pip install --quiet --retries 1 --timeout 20 --target "$scratch" tzdata || exit 2
cargo run --quiet --locked -p domain --example zones -- "$scratch/tzdata" "$(date +%s)"
