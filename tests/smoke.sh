#!/usr/bin/env bash
# Checks a deployment from outside, in a few seconds and without writing: an unknown path, the documents, a preflight, a request without
# credentials, and one with them.
#
#   INSTANCE=acme KEY=fk_… TOKEN=fa_… tests/smoke.sh <BaseUrl>
#
# Without KEY the last step is skipped. RELEASE is the label that the deployment has to have. EMULATED=1 is for emulators
# that pass neither preflights nor /health to a function. Needs curl. Exits with 1 if a step fails.
set -euo pipefail

url=${1:?usage: tests/smoke.sh <BaseUrl>}
url=${url%/}
readonly url instance=${INSTANCE:-acme} release=${RELEASE:-}
scratch=$(mktemp -d)
readonly scratch
trap 'rm -r "$scratch"' EXIT
failures=0

# Sends a request and requires a status, and lines of the response that match a pattern.
expect() { # name, status, pattern, curl's arguments...
  local name=$1 status=$2 pattern=$3 found
  shift 3
  found=$(curl -sS --max-time 40 -o "$scratch/body" -D "$scratch/head" -w '%{http_code}' "$@" || true)
  if [[ $found != "$status" ]]; then
    printf 'failed: %s: %s in place of %s: %s\n' "$name" "$found" "$status" "$(head -c 300 "$scratch/body" 2>/dev/null)" >&2
  elif ! grep -qaiE "$pattern" <(cat "$scratch/head" "$scratch/body" | tr -d '\r'); then
    printf 'failed: %s: nothing matches %s: %s\n' "$name" "$pattern" "$(head -c 300 "$scratch/body" | tr -d '\0')" >&2
  else
    printf 'ok: %s\n' "$name"
    return
  fi
  failures=$((failures + 1))
}

expect 'an unknown path is 404' 404 '"no such route"' "$url/smoke-test"
expect 'every response has an id' 404 '^x-request-id: [0-9a-f]{32}$' "$url/smoke-test"
expect "the version is ${release:-there}" 404 "^x-funil-version: [0-9.]+${release:+[+]$release\$}" "$url/smoke-test"
expect 'the interface is described' 200 '^openapi: 3' "$url/openapi.yaml"
expect 'the description has a page' 200 '^content-security-policy: ' "$url/docs"
expect 'its program is there' 200 '^content-encoding: gzip$' -H 'Accept-Encoding: gzip' "$url/docs/swagger-ui-bundle.js"
if [[ -z ${EMULATED:-} ]]; then
  expect 'the health check is 200' 200 "^\\{\"status\":\"ok\",\"version\":\"[0-9.]+${release:+[+]$release}\"" "$url/health"
  expect 'a preflight is answered' 204 '^access-control-allow-methods: GET, POST, PUT, DELETE$' -X OPTIONS \
    -H 'Origin: https://smoke.example' -H 'Access-Control-Request-Method: GET' "$url/leads"
fi
expect 'without a key it is 401' 401 '"Unauthorized"' "$url/leads?i=$instance&limit=1"
if [[ -n ${KEY:-} ]]; then
  expect 'with a key it is 200' 200 '^\{"data":' -H "apitoken: $KEY" -H "Authorization: Bearer ${TOKEN:-}" \
    "$url/leads?i=$instance&limit=1"
else
  echo 'skipped: KEY is not set'
fi
[[ $failures == 0 ]]
