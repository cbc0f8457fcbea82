#!/usr/bin/env bash
# Creates an opportunity of a lead in the first column of the first funnel, wins it, and prints it.
#
#   FUNIL_URL=http://127.0.0.1:3000 INSTANCE=demo FUNIL_KEY=fk_… FUNIL_TOKEN=fa_… examples/opportunity.sh 1001 order-7
#
# Needs curl and jq.
set -euo pipefail

if [[ $# -ne 2 || -z ${FUNIL_URL:-} || -z ${INSTANCE:-} || -z ${FUNIL_KEY:-} || -z ${FUNIL_TOKEN:-} ]]; then
  echo "usage: FUNIL_URL=… INSTANCE=… FUNIL_KEY=fk_… FUNIL_TOKEN=fa_… $0 LEAD ORDER" >&2
  echo 'LEAD is the id of a lead, ORDER a text that names the order: the same one creates nothing twice.' >&2
  exit 2
fi
lead=$1 order=$2
headers=(-H "apitoken: $FUNIL_KEY" -H "Authorization: Bearer $FUNIL_TOKEN")

# Sends a request, up to three times more after a failure of the connection or the service, and fails with the response.
call() { # path, option...
  curl --silent --show-error --fail-with-body --retry 3 --max-time 30 "$FUNIL_URL$1" "${@:2}"
}

funnel=$(call "/crm?i=$INSTANCE&apitoken=$FUNIL_KEY" | jq '.[0]')
id=$(jq .id <<<"$funnel")
column=$(jq '.columns[0].id' <<<"$funnel")

# A repeated order creates nothing twice.
body=$(jq -n --argjson column "$column" --argjson lead "$lead" \
  '{title: "Pedido do site", value: "213.20", crm_column: $column, lead_id: $lead}')
opportunity=$(call "/crmopportunity?i=$INSTANCE&id=$id" "${headers[@]}" -H "Idempotency-Key: $order" -d "$body" | jq .id)

call "/crmopportunity/$opportunity?i=$INSTANCE&id=$id" "${headers[@]}" -X PUT -d '{"status":"gain"}' |
  jq '.data | {id, title, value, status, gain_date}'
