#!/usr/bin/env bash
# Tests a running service against openapi.yaml with Schemathesis: valid and invalid requests, single and in sequences, the same in
# every run. Takes half a minute after the build.
#
#   tests/schemathesis.sh [option of schemathesis run...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly requirements=tests/schemathesis-requirements.txt
# Generated requests per operation and phase.
readonly examples=${EXAMPLES:-15}

schemathesis=${SCHEMATHESIS:-schemathesis}
if ! "$schemathesis" --version >/dev/null 2>&1; then
  cat >&2 <<EOF
This needs Python 3.10 or later and Schemathesis, which is not installed. In a virtual environment:

  python3 -m venv target/schemathesis
  target/schemathesis/bin/pip install -r $requirements
  SCHEMATHESIS=target/schemathesis/bin/schemathesis tests/schemathesis.sh
EOF
  exit 2
fi
tried=$(sed 's/.*==//' "$requirements")
if ! "$schemathesis" --version | grep -qF "$tried"; then
  printf 'note: this was tried with Schemathesis %s\n' "$tried" >&2
fi
schemathesis=$(command -v "$schemathesis")
schemathesis=$(cd "$(dirname "$schemathesis")" && pwd)/$(basename "$schemathesis")

cargo build --quiet -p funil
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

# A new service with a new demo, on free ports.
home=$(mktemp -d)
service=
finish() {
  if [ -n "$service" ]; then kill "$service" 2>/dev/null && wait "$service" || true; fi
  rm -rf "$home"
}
trap finish EXIT
FUNIL_LOG=error "$target/debug/funil" --json serve --port 0 --data "$home/data" >"$home/ready" &
service=$!
until [ -s "$home/ready" ]; do
  kill -0 "$service" 2>/dev/null || exit 1
  sleep 0.1
done

# The line printed when the service is ready: {"url":…,"demo":{"key":…,"token":…}}.
said() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$home/ready"; }
FUNIL_KEY=$(said key)
FUNIL_TOKEN=$(said token)
export FUNIL_KEY FUNIL_TOKEN

# Most generated ids do not exist, which is not a finding: hence no warnings.
cd "$home"
# The build completes openapi.yaml.
curl -sS "$(said url)/openapi.yaml" >openapi.yaml
"$schemathesis" --config-file "$OLDPWD/tests/schemathesis.toml" run openapi.yaml --url "$(said url)" \
  --checks all --mode all --phases examples,coverage,fuzzing,stateful --max-examples "$examples" \
  --generation-deterministic --warnings off "$@"
