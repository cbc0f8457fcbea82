#!/usr/bin/env bash
# Generates clients from the served openapi.yaml and calls every operation of `funil serve` with openapi-fetch and the types of
# openapi-typescript, with openapi-python-client, and as a Postman collection with newman. Compiles what orval generates and reads models
# of datamodel-code-generator: both keep custom fields. Then runs the programs in examples/.
#
#   tests/clients.sh                      with `cargo run --`
#   tests/clients.sh target/debug/funil   with an existing command
#   tests/clients.sh --update [command]   and writes the collection in examples/
#   tests/clients.sh --install            only installs the generators, into CLIENT_TOOLS
#
# Needs curl. Node.js 20 and Python 3.11 are optional: clients without their tool are skipped. npm and pip install the generators (a
# minute) into a temporary directory, or once into CLIENT_TOOLS=DIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly root=$PWD here=$PWD/tests/clients collection=$PWD/examples/funil.postman_collection.json
update='' install=''
case ${1:-} in
  --update) update=1 && shift ;;
  --install) install=1 && shift ;;
esac
funil=("$@")
[[ $# -gt 0 ]] || funil=(cargo run --quiet --)
scratch=$(mktemp -d)
readonly scratch interface=$scratch/openapi.yaml
readonly tools=${CLIENT_TOOLS:-$scratch/tools}

service=
stop() {
  if [[ -n $service ]]; then kill -KILL "$service" 2>/dev/null && wait "$service" 2>/dev/null || true; fi
  service=
}
trap 'stop; rm -rf "$scratch"' EXIT

fail() {
  printf 'failed: %s\n' "$*" >&2
  exit 1
}

# Limits the time of a command, if `timeout` is installed.
limited() { # seconds, command...
  if command -v timeout >/dev/null; then timeout "$@"; else "${@:2}"; fi
}

# Starts a service with a new demo, and exports its address and credentials.
start() {
  stop
  rm -rf "$scratch/data" "$scratch/ready"
  FUNIL_LOG=error "${funil[@]}" --json serve --port 0 --data "$scratch/data" >"$scratch/ready" &
  service=$!
  # `cargo run` may have to build it.
  local until=$((SECONDS + 900))
  until [[ -s $scratch/ready ]]; do
    kill -0 "$service" 2>/dev/null && ((SECONDS < until)) || fail 'the service did not start'
    sleep 0.1
  done
  FUNIL_URL=$(said url) FUNIL_KEY=$(said key) FUNIL_TOKEN=$(said token)
  export FUNIL_URL FUNIL_KEY FUNIL_TOKEN
  # As it is served, because the build completes openapi.yaml, but with the server of the repository's.
  curl -sS "$FUNIL_URL/openapi.yaml" | sed 's#default: "/"#default: "http://127.0.0.1:3000"#' >"$interface"
}
said() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$scratch/ready"; }

# Whether a file of versions is that of the installed tools.
is_installed() { # file, directory
  cmp -s "$1" "$2/$(basename "$1")"
}

node_tools() {
  is_installed "$here/package.json" "$tools/node" && return
  rm -rf "$tools/node"
  mkdir -p "$tools/new" && cp "$here/package.json" "$tools/new" &&
    (cd "$tools/new" && limited 300 npm install --silent --no-audit --no-fund --no-package-lock >&2) &&
    mv "$tools/new" "$tools/node"
}

python_tools() {
  is_installed "$here/requirements.txt" "$tools/python" && return
  rm -rf "$tools/python"
  python3 -m venv "$tools/python" &&
    limited 300 "$tools/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" &&
    cp "$here/requirements.txt" "$tools/python/"
}

if [[ -n $install ]]; then
  ! command -v npm >/dev/null || node_tools
  ! command -v python3 >/dev/null || python_tools
  exit
fi

typescript() {
  cp "$here"/*.mjs "$here/client.ts" "$tools/node" && cd "$tools/node" &&
    limited 120 node_modules/.bin/openapi-typescript "$interface" -o schema.ts >/dev/null &&
    node typescript.mjs "$interface" calls.ts &&
    limited 120 node_modules/.bin/tsc --strict --target es2022 --module nodenext --lib es2022,dom,dom.iterable --skipLibCheck calls.ts &&
    limited 120 node calls.js
}

orval() {
  cp "$here"/orval.ts "$tools/node" && cd "$tools/node" &&
    limited 120 node_modules/.bin/orval --input "$interface" --output funil.ts --client fetch >/dev/null &&
    limited 120 node_modules/.bin/tsc --strict --target es2022 --module nodenext --lib es2022,dom,dom.iterable --skipLibCheck orval.ts &&
    limited 120 node orval.js
}

postman() {
  cp "$here"/*.mjs "$tools/node" && cd "$tools/node" &&
    limited 120 node postman.mjs make "$interface" "$scratch/collection.json" &&
    limited 120 node postman.mjs send "$interface" "$scratch/collection.json" || return
  if [[ -n $update ]]; then
    cp "$scratch/collection.json" "$collection"
  elif ! cmp -s "$scratch/collection.json" "$collection"; then
    printf '%s is out of date: run tests/clients.sh --update\n' "${collection#"$root"/}" >&2
    return 1
  fi
}

python() {
  PATH=$tools/python/bin:$PATH limited 120 openapi-python-client generate --path "$interface" --meta none \
    --output-path "$scratch/funil_client" --overwrite --fail-on-warning >/dev/null &&
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch limited 120 "$tools/python/bin/python" "$here/calls.py" "$interface"
}

models() {
  limited 120 "$tools/python/bin/datamodel-codegen" --input "$interface" --input-file-type openapi --formatters builtin \
    --output-model-type pydantic_v2.BaseModel --output "$scratch/funil_models.py" &&
    PYTHONDONTWRITEBYTECODE=1 limited 120 "$tools/python/bin/python" "$here/models.py" "$scratch"
}

failed=0
client() { # name, command...
  start
  printf '%s: ' "$1"
  ("${@:2}") || { failed=1; printf 'failed: %s\n' "$1" >&2; }
}

if ! command -v npm >/dev/null; then
  echo 'skipped: npm is not installed'
elif ! node_tools; then
  echo 'skipped: npm could not install openapi-fetch and newman'
else
  client 'openapi-fetch' typescript
  client 'orval' orval
  client 'Postman' postman
fi
if ! command -v python3 >/dev/null; then
  echo 'skipped: Python 3 is not installed'
elif ! python_tools; then
  echo 'skipped: pip could not install openapi-python-client'
else
  client 'openapi-python-client' python
  client 'datamodel-code-generator' models
fi

prints() { # text, command...
  local output
  if output=$("${@:2}" 2>&1) && grep -qF -- "$1" <<<"$output"; then
    echo 'done'
  else
    printf '%s\n' "$output"
    return 1
  fi
}

example() { # file, tools, text of the output, command...
  local tool
  for tool in $2; do
    command -v "$tool" >/dev/null || { printf 'skipped: %s: %s is not installed\n' "$1" "$tool"; return; }
  done
  client "examples/$1" prints "$3" limited 60 "${@:4}"
}

export INSTANCE=demo
example opportunity.sh 'curl jq' '"status": "gain"' examples/opportunity.sh 1001 order-7
example leads.mjs node 'lead1001@example.com' node examples/leads.mjs
example n8n-lead-and-opportunity.json node ' of lead ' node tests/clients/n8n.mjs \
  examples/n8n-lead-and-opportunity.json
example board.py python3 'José da Conceição' python3 examples/board.py 3
exit "$failed"
