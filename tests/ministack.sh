#!/usr/bin/env bash
# Runs the end-to-end tests on MiniStack, another implementation of DynamoDB, which is installed into the target directory (Python 3.10
# or newer). Arguments select tests by parts of their names. PATIENCE is the time limit of a test in seconds, JOBS the number of tests
# at a time, PORT the port of MiniStack. Prints each test that fails or exceeds its limit, and exits with 1 if one fails
# (docs/reliability.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
readonly target made=$target/ministack requirements=tests/deploy/requirements.txt
readonly port=${PORT:-4598} patience=${PATIENCE:-120} jobs=${JOBS:-2}
work=$(mktemp -d)
readonly work

# Left out: tests that count units, which MiniStack computes differently; tests without a table; tests with tens of thousands of
# operations, of which MiniStack does a few hundred a second.
readonly left_out='^(architecture|automations::a_trigger_costs_one_item|capacity|documents|faults::matrix|isolation::pairs|model|openapi|template)'

[[ -x $made/bin/python ]] || python3 -m venv "$made"
if ! cmp -s "$requirements" "$made/installed.txt"; then
  "$made/bin/pip" install --quiet -r "$requirements"
  cp "$requirements" "$made/installed.txt"
fi

export AWS_EC2_METADATA_DISABLED=true RUST_BACKTRACE=0
BIND_HOST=127.0.0.1 GATEWAY_PORT=$port TMPDIR=$work "$made/bin/python" -m ministack >"$work/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
curl -s --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null "http://127.0.0.1:$port/_ministack/health"

suite=${SUITE:-$(cargo test --locked --workspace --test suite --no-run --message-format=json 2>/dev/null |
  sed -n 's/.*"name":"suite".*"executable":"\([^"]*\)".*/\1/p' | tail -1)}
suite=$(realpath "$suite")
cd tests
export DYNAMODB_ENDPOINT=http://127.0.0.1:$port suite patience work

# Each test has its own table, so several run at a time.
one() { # name
  local code=0
  timeout "$patience" "$suite" --exact "$1" >"$work/$1" 2>&1 || code=$?
  case $code in
    0) echo passed ;;
    124) printf 'not done in %s s: %s\n' "$patience" "$1" ;;
    # The test reads or edits items of the embedded engine itself.
    *) if grep -q '^an engine$' "$work/$1"; then printf 'needs the embedded engine: %s\n' "$1"; return; fi
       printf 'failed: %s: %s\n' "$1" "$(grep -A2 'panicked at' "$work/$1" | tr '\n' ' ' | cut -c1-300)" ;;
  esac
}
export -f one
"$suite" --list 2>/dev/null | sed -n 's/: test$//p' | grep -Ev "$left_out" >"$work/all"
[[ $# == 0 ]] || { grep -F "$(printf '%s\n' "$@")" "$work/all" >"$work/some" && mv "$work/some" "$work/all"; }
xargs -P "$jobs" -I{} bash -c 'one {}' <"$work/all" | tee "$work/outcomes" | grep -v '^passed$' || true
count() { grep -c "^$1" "$work/outcomes" || true; }
printf '%d passed, %d failed, %d not done in time, %d need the embedded engine\n' "$(count passed)" "$(count failed)" \
  "$(count 'not done')" "$(count needs)"
[[ $(count failed) == 0 ]]
