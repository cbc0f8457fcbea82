#!/usr/bin/env bash
# Invokes each function with `sam local invoke` and a recorded event, compares the response with tests/events/README.md, and sends
# requests to `sam local start-api`. The table is MiniStack's, with the demo of `funil --endpoint … serve`.
#
#   tests/sam-local.sh                        with programs of `sam build` (cargo-lambda)
#   PROGRAMS=target/debug tests/sam-local.sh  with programs that are already built
#
# FUNIL is the command [default: built by cargo], PORT the port of MiniStack. Needs a Docker engine (Debian: docker.io), Python 3.10
# or newer, and curl. Without access to a registry it also needs busybox (busybox-static), and imports an image of this machine's
# libraries. Exits with 1 at the first response that differs, or without a Docker engine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
readonly root=$PWD target made=$target/ministack sam_tools=${SAM_TOOLS:-$target/ci-venv} port=${PORT:-4566} api=${API_PORT:-4567}
work=$(mktemp -d)
readonly work
started=()
finish() {
  for process in "${started[@]}"; do kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

fail() {
  printf 'failed: %s\n' "$*" >&2
  exit 1
}

install() { # directory, requirements
  [[ -x $1/bin/python ]] || python3 -m venv "$1"
  cmp -s "$2" "$1/installed.txt" && return
  "$1/bin/python" -m pip install --quiet --retries 1 --timeout 20 -r "$2" && cp "$2" "$1/installed.txt"
}

# An image with glibc, libgcc, certificates and a shell in place of Amazon's: functions and `sam` need nothing else.
import_image() { # name
  local image=$work/image libraries=/lib/$(uname -m)-linux-gnu loader program
  loader=$(echo /lib*/ld-linux-*.so.*)
  mkdir -p "$image"/{bin,tmp,etc/ssl/certs,var/task,var/runtime,var/rapid} "$image$libraries" "$image$(dirname "${loader##* }")"
  chmod 1777 "$image/tmp"
  cp -L "${loader##* }" "$image$(dirname "${loader##* }")/"
  cp -L "$libraries"/{libc.so.6,libm.so.6,libgcc_s.so.1,libpthread.so.0,libdl.so.2,librt.so.1} "$image$libraries/"
  cp /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
  cp "$(command -v busybox)" "$image/bin/busybox"
  for program in sh chmod mv; do ln -s /bin/busybox "$image/bin/$program"; done
  tar -C "$image" -c . | docker import -c 'ENV PATH=/bin' -c 'WORKDIR /var/task' - "$1" >/dev/null
}

docker info >/dev/null 2>&1 || fail 'there is no Docker engine (Debian: apt-get install docker.io)'
install "$made" tests/deploy/requirements.txt || fail "tests/deploy/requirements.txt cannot be installed"
install "$sam_tools" tests/requirements.txt || fail "tests/requirements.txt cannot be installed"
case $(uname -m) in x86_64) architecture=x86_64 ;; *) architecture=arm64 ;; esac
readonly architecture base=public.ecr.aws/lambda/provided:al2023-$architecture
if ! docker image inspect "$base" >/dev/null 2>&1 && ! timeout 300 docker pull --quiet "$base" 2>/dev/null; then
  command -v busybox >/dev/null || fail "$base cannot be pulled, and busybox is not installed"
  import_image "$base"
fi
host=$(docker network inspect bridge --format '{{(index .IPAM.Config 0).Gateway}}')
[[ -n $host ]] || host=$(docker network inspect bridge --format '{{(index .IPAM.Config 0).Subnet}}' | sed 's#\.[0-9]*/.*#.1#')

# --------------------------------------------------------------------------------------------- the table, with a demo

unset AWS_PROFILE AWS_SESSION_TOKEN
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test \
  AWS_EC2_METADATA_DISABLED=true SAM_CLI_TELEMETRY=0
# Only containers reach this address; MiniStack checks no credentials.
BIND_HOST=$host GATEWAY_PORT=$port TMPDIR=$work "$made/bin/python" -m ministack >"$work/ministack" 2>&1 &
started+=($!)
curl -sf --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null "http://$host:$port/_ministack/health" ||
  fail "MiniStack did not start: $(tail -3 "$work/ministack")"
if [[ -n ${FUNIL:-} ]]; then
  funil=$(realpath "$FUNIL")
else
  cargo build --quiet --locked -p funil
  funil=$target/debug/funil
fi
FUNIL_LOG=error "$funil" --endpoint "http://$host:$port" --table funil --json serve --port 0 >"$work/ready" &
service=$!
started+=("$service")
until [[ -s $work/ready ]]; do
  kill -0 "$service" 2>/dev/null || fail 'funil serve did not start'
  sleep 0.2
done
said() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/ready"; }
KEY=$(said key) TOKEN=$(said token)
export KEY TOKEN
[[ -n $KEY && -n $TOKEN ]] || fail "funil serve printed no credentials"
kill "$service" && wait "$service" || true

# ------------------------------------------------------------------------------------------------------- the functions

sed "s/Architecture=arm64/Architecture=$architecture/" samconfig.toml >"$work/samconfig.toml"
sed "s/:4566/:$port/" tests/events/env.json >"$work/env.json"
cp template.yaml "$work/template.yaml"
if [[ -n ${PROGRAMS:-} ]]; then
  mkdir -p "$work/.aws-sam/build"
  cp template.yaml "$work/.aws-sam/build/template.yaml"
  "$sam_tools/bin/python" tests/deploy/emulator.py artefacts "$work/.aws-sam/build/template.yaml" "$PROGRAMS"
else
  "$sam_tools/bin/sam" build --config-file "$work/samconfig.toml" --build-dir "$work/.aws-sam/build"
fi
events() { "$sam_tools/bin/python" "$root/tests/deploy/events.py" "$@"; }
locally() { # command, arguments...
  (cd "$work" && exec "$sam_tools/bin/sam" local "$@" --config-file "$work/samconfig.toml" --env-vars env.json \
    --template "$work/.aws-sam/build/template.yaml" --skip-pull-image --add-host "host.docker.internal:$host")
}

for function in $(sed -nE 's/^  ([A-Za-z]+Function):$/\1/p' template.yaml); do
  name=$(events first "$function")
  events event "$name" | locally invoke "$function" --event - >"$work/answer" 2>"$work/log" || fail "$function: $(tail -5 "$work/log")"
  events check "$name" <"$work/answer" || fail "$function: $(tail -3 "$work/log")"
  printf 'ok: %s answers %s\n' "$function" "$name"
done

locally start-api --port "$api" >"$work/api" 2>&1 &
started+=($!)
curl -s --retry 60 --retry-delay 1 --retry-connrefused --max-time 60 -o /dev/null "http://127.0.0.1:$api/health" || fail "$(tail -5 "$work/api")"
requires() { # status, beginning of the body, curl's arguments...
  local found
  found=$(curl -sS --max-time 60 -w '\n%{http_code}' -H "apitoken: $KEY" -H "Authorization: Bearer $TOKEN" "${@:3}")
  [[ ${found##*$'\n'} == "$1" && $found == "$2"* ]] || fail "${*: -1}: ${found:0:300}, in place of $1 $2"
  printf 'ok: %s %s\n' "$1" "$(sed 's#^http://[^/]*##; s#?.*##' <<<"${*: -1}")"
}
requires 200 '{"data":{"total":199,' "http://127.0.0.1:$api/leads?i=demo&limit=1"
requires 200 '[{"id":3,' "http://127.0.0.1:$api/crm?i=demo&apitoken=$KEY"
requires 404 '{"error":"Not found","details":"no such route"}' "http://127.0.0.1:$api/nowhere"
requires 405 '{"msg":"Method not allowed"}' -X PUT "http://127.0.0.1:$api/crmopportunity"
