#!/usr/bin/env bash
# Submits the demo's form from a page of another origin in Chromium: by fetch with keepalive, by sendBeacon and by <form>.
#
#   tests/form.sh [FUNIL]   FUNIL is a built command [default: target/debug/funil]
#
# Needs Chromium, Python 3 and curl; does nothing without them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

funil=${1:-target/debug/funil}
browser=$(command -v chromium || command -v chromium-browser || true)
if [[ -z $browser ]] || ! command -v python3 >/dev/null || ! command -v curl >/dev/null; then
  echo 'skipped: Chromium, Python 3 or curl is not installed'
  exit
fi

folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null || true; rm -rf "$folder"' EXIT

# Prints the first word after a text of a growing file, once it is there.
await() { # file, text
  for _ in {1..100}; do
    if sed -n "s#.*$2\([^ ]*\).*#\1#p" "$1" | grep -m 1 .; then return; fi
    sleep 0.2
  done
  echo "failed: no '$2' in $1" >&2
  return 1
}

"$funil" serve --port 0 --data "$folder/data" >"$folder/serve" 2>/dev/null &
service=$(await "$folder/serve" 'listening on ')
mkdir "$folder/page"
(cd "$folder/page" && exec python3 -u -m http.server --bind 127.0.0.1 0 >"$folder/http" 2>/dev/null) &
page=http://localhost:$(await "$folder/http" 'port ')

form="$service/api/hook/contato?i=demo&access_token=demo-form-token"
cat >"$folder/page/index.html" <<HTML
<!doctype html><meta charset="utf-8"><iframe name="answer"></iframe>
<form method="post" target="answer" action="${form//&/&amp;}">
<input name="nome" value="Por Form"><input name="email" value="form@example.com"></form>
<script>
(async () => {
  const sent = (name) => JSON.stringify({ nome: name, email: name.replace(" ", "-") + "@example.com" });
  await fetch("$form", { method: "POST", keepalive: true, body: sent("Por Fetch") });
  navigator.sendBeacon("$form", sent("Por Beacon"));
  document.forms[0].submit();
})();
</script>
HTML
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=8000 --dump-dom "$page/" >/dev/null 2>&1

key=$(await "$folder/serve" 'API key *')
token=$(await "$folder/serve" 'access token *')
for name in Fetch Beacon Form; do
  found=$(curl -sS "$service/leads?i=demo&search=Por%20$name" -H "apitoken: $key" -H "Authorization: Bearer $token")
  if [[ $found != *'"total":1,'* ]]; then
    echo "failed: by $name: $found" >&2
    exit 1
  fi
  echo "submitted by $name"
done
