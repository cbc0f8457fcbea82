#!/usr/bin/env bash
# Runs the end-to-end tests on moto, another implementation of DynamoDB, which is installed into the target directory (Python 3.10
# or newer). Arguments select tests by parts of their names. PATIENCE is the time limit of a test in seconds, MOTO_PORT the port of
# moto. Prints each test that fails or exceeds its limit, and exits with 1 if one fails (docs/reliability.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
readonly target made=$target/moto port=${MOTO_PORT:-5556} patience=${PATIENCE:-120}
work=$(mktemp -d)
readonly work

# Skipped: tests that count units, which moto computes differently; tests without a table; tests with tens of thousands of
# operations, of which moto does about a hundred a second.
readonly left_out='^(automations::a_trigger_costs_one_item|capacity|documents|faults::matrix|isolation::pairs|model|openapi|template)'

if [ ! -x "$made/bin/python" ]; then
  python3 -m venv "$made"
  "$made/bin/pip" install --quiet 'moto[server]==5.2.5'
fi

# Requests are serialised: a transaction of moto copies the whole table, and a refused one restores the copy, which undoes
# concurrent writes.
"$made/bin/python" - "$port" >"$work/log" 2>&1 <<'PYTHON' &
import sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=False)
PYTHON
server=$!
trap 'kill "$server" 2>/dev/null; rm -r "$work"' EXIT

suite=$(cargo test --locked --workspace --test suite --no-run --message-format=json 2>/dev/null |
  sed -n 's/.*"name":"suite".*"executable":"\([^"]*\)".*/\1/p' | tail -1)
cd tests
export DYNAMODB_ENDPOINT=http://127.0.0.1:$port AWS_EC2_METADATA_DISABLED=true RUST_BACKTRACE=0
passed=0 slow=0 failed=0
for name in $("$suite" --list 2>/dev/null | sed -n 's/: test$//p' | grep -Ev "$left_out"); do
  if [ $# -gt 0 ] && ! grep -qF "$(printf '%s\n' "$@")" <<<"$name"; then continue; fi
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  curl -s --retry 60 --retry-delay 1 --retry-connrefused -o "$work/reset" -X POST "http://127.0.0.1:$port/moto-api/reset"
  code=0
  timeout "$patience" "$suite" --exact "$name" >"$work/output" 2>&1 || code=$?
  case $code in
    0) passed=$((passed + 1)) ;;
    124) slow=$((slow + 1)); printf 'not done in %s s: %s\n' "$patience" "$name" ;;
    *) failed=$((failed + 1)); printf 'failed: %s\n' "$name"
       grep -A3 'panicked at' "$work/output" | cut -c1-300 || true ;;
  esac
done
printf '%d passed, %d failed, %d not done in time\n' "$passed" "$failed" "$slow"
[ "$failed" = 0 ]
