#!/usr/bin/env bash
# Runs the README: starts the service, sends every request of the tour, compares the responses with those shown, and runs every
# command of "Operate it". Exits with 1 if the README is wrong.
#
#   tests/newcomer.sh                      with `cargo run --release --`, as in the README
#   tests/newcomer.sh target/debug/funil   with an existing command
#
# Needs bash, curl and the Unix text tools. It uses free ports and a temporary directory; otherwise it does what the README says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly readme=README.md
funil=("$@")
[[ $# -gt 0 ]] || funil=(cargo run --quiet --release --)
scratch=$(mktemp -d)
readonly scratch

# Stops the service like Ctrl-C. Early in its start the service may not handle the signal yet.
stop() {
  [[ -n ${service:-} ]] || return 0
  for ((tries = 0; tries < 60; tries++)); do
    kill -INT "$service" 2>/dev/null || break
    sleep 0.2
  done
  kill -KILL "$service" 2>/dev/null || true
  wait "$service" 2>/dev/null || true
  service=
}
trap 'stop; rm -rf "$scratch"' EXIT

fail() {
  printf 'README.md: %s\n' "$*" >&2
  exit 1
}

# Starts the service and waits until it is ready.
start() {
  : >"$scratch/out"
  "${funil[@]}" serve --data "$scratch/data" --port 0 >"$scratch/out" 2>"$scratch/log" &
  service=$!
  until grep -q '^listening on ' "$scratch/out"; do
    kill -0 "$service" 2>/dev/null || fail "the service did not start: $(tail -3 "$scratch/log")"
    sleep 0.2
  done
  address=$(sed -n 's/^listening on //p' "$scratch/out")
}

# The fenced blocks of a section, one per line: language, bar, text with \n for line ends.
blocks() { # heading
  awk -v heading="## $1" '
    /^## / { wanted = ($0 == heading) }
    !wanted { next }
    /^```/ { if (fenced) { print language "|" text; fenced = 0 } else { fenced = 1; language = substr($0, 4); text = "" } next }
    fenced { text = text (text == "" ? "" : "\\n") $0 }
  ' "$readme"
}

# Compares a response with the shown one, in which … matches anything.
is_shown() { # shown, answer
  local pattern
  pattern=$(sed -e 's/[][\.*^$+?(){}|]/\\&/g' -e 's/…/.*/g' <<<"$1")
  grep -Eqx -- "$pattern" <<<"$2"
}

printf 'starting: %s serve\n' "${funil[*]}"
start
KEY=$(sed -n 's/^ *API key *//p' "$scratch/out")
TOKEN=$(sed -n 's/^ *access token *//p' "$scratch/out")
export KEY TOKEN DATE=
[[ -n $KEY && -n $TOKEN ]] || fail 'no credentials were printed'

# The curl lines that the service prints.
tried=0
while IFS= read -r line; do
  answer=$(bash -c "$line --fail-with-body") || fail "printed at the start, and answered by $answer: $line"
  tried=$((tried + 1))
done < <(grep '^curl ' "$scratch/out")
[[ $tried -eq 3 ]] || fail "$tried lines to try were printed, not 3"
printf '%d printed lines answered\n' "$tried"
stop
rm -rf "$scratch/data"
start
KEY=$(sed -n 's/^ *API key *//p' "$scratch/out")
TOKEN=$(sed -n 's/^ *access token *//p' "$scratch/out")

# The tour, in order: a request and the response after it.
asked=0 answer='' request=''
while IFS='|' read -r language text; do
  text=${text//\\n/$'\n'}
  case $language in
    '')
      [[ $text == curl* ]] || continue
      request=$text
      answer=$(bash -c "${text//http:\/\/127.0.0.1:3000/$address}" 2>/dev/null) || fail "curl failed: $request"
      asked=$((asked + 1))
      time=$(grep -o '"slots":\["[^"]*"' <<<"$answer" | grep -o '20[^"]*' || true)
      DATE=${time:-$DATE}
      ;;
    json)
      is_shown "$text" "$answer" && continue
      # A second response to the same request, sent again.
      answer=$(bash -c "${request//http:\/\/127.0.0.1:3000/$address}" 2>/dev/null)
      is_shown "$text" "$answer" || fail "$request"$'\n'"shows    $text"$'\n'"answered ${answer:0:500}"
      ;;
  esac
done < <(blocks 'A tour of two minutes')
[[ $asked -ge 9 ]] || fail "the tour has only $asked requests"
printf '%d requests of the tour answered as shown\n' "$asked"

# The operator's commands, in order, on the database of the running service.
ran=0 id=''
cp cli/demo/demo.ndjson "$scratch/data.ndjson"
while IFS='|' read -r language text; do
  [[ $text == 'funil '* ]] || continue
  while IFS= read -r line; do
    line=${line%%#*}
    line=${line%% > *}
    [[ $line == 'funil '* ]] || continue
    line=${line//<id>/$id}
    line=${line//data.ndjson/$scratch/data.ndjson}
    line=${line//backup.ndjson/$scratch/backup.ndjson}
    read -r -a words <<<"${line#funil }"
    said=$("${funil[@]}" --data "$scratch/data" --json "${words[@]}" <<<'a-secret-of-the-webhook' 2>"$scratch/err") ||
      fail "$line"$'\n'"$said $(cat "$scratch/err")"
    [[ $line != *'key issue'* ]] || id=$(grep -o '"id":"[^"]*"' <<<"${said// /}" | cut -d'"' -f4)
    ran=$((ran + 1))
  done <<<"${text//\\n/$'\n'}"
done < <(blocks 'Operate it')
[[ $ran -ge 10 ]] || fail "only $ran commands are shown"
printf '%d commands done\n' "$ran"

# Ctrl-C loses nothing.
stop
start
total=$(curl -s "$address/leads?i=demo" -H "apitoken: $KEY" -H "Authorization: Bearer $TOKEN" | grep -o '"total":[0-9]*')
[[ $total == '"total":200' ]] || fail "after a restart $total, not 200 leads"
echo 'the README is true'
