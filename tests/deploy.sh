#!/usr/bin/env bash
# Runs the year of a deployment on MiniStack, an emulator of AWS without Docker: the commands of docs/operations.md as written there, from
# the first deployment to the tear-down, with SAM's transform, change sets and the functions' own programs.
#
#   tests/deploy.sh                       all functions, built by `sam build`
#   tests/deploy.sh Leads Directory       builds only these; the rest is deployed without a program
#   PROGRAMS=target/debug tests/deploy.sh takes programs that are already built
#
# FUNIL is the command [default: built by cargo], PORT the port of the emulator. Needs Python 3.10 or newer, curl, and for `sam build`
# cargo-lambda. LOG=1 shows the output of every command. Exits with 1 at the first command that fails.
#
# MiniStack does not: evaluate or accept alarms over metric math (left out), import routes (made by calls), pass on preflights and
# /health (left out), enforce roles, throttle, keep system backups (an own backup takes their place), or restore a former second. It has
# versions and aliases, but no CodeDeploy: with Canary the aliases move at once, and SAM's transform is checked instead. Not run:
# the commands of "Alarms", because the AWS CLI does not send calls of a queue to the emulator; those of "Responses with 429", which
# need a failed deployment; the queries, which CloudWatch evaluates.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
readonly root=$PWD document=$PWD/docs/operations.md target made=$target/ministack
readonly sam_tools=${SAM_TOOLS:-$target/ci-venv} port=${PORT:-4599}
work=$(mktemp -d)
readonly work
log=$work/log
[[ -n ${LOG:-} ]] && log=/dev/stdout

fail() {
  printf 'failed: %s\n' "$*" >&2
  [[ $log == /dev/stdout ]] || tail -25 "$log" >&2
  exit 1
}

# ------------------------------------------------------------------------------------------------------- the tools

install() { # directory, requirements
  [[ -x $1/bin/python ]] || python3 -m venv "$1"
  cmp -s "$2" "$1/installed.txt" && return
  "$1/bin/python" -m pip install --quiet --retries 1 --timeout 20 -r "$2" && cp "$2" "$1/installed.txt"
}
install "$made" tests/deploy/requirements.txt || fail "tests/deploy/requirements.txt cannot be installed"
install "$sam_tools" tests/requirements.txt || fail "tests/requirements.txt cannot be installed"

unset AWS_PROFILE AWS_SESSION_TOKEN
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_PAGER='' \
  AWS_EC2_METADATA_DISABLED=true AWS_ENDPOINT_URL=http://127.0.0.1:$port SAM_CLI_TELEMETRY=0
BIND_HOST=127.0.0.1 GATEWAY_PORT=$port LAMBDA_EXECUTOR=local TMPDIR=$work \
  "$made/bin/python" -m ministack >"$work/ministack" 2>&1 &
emulator=$!
finish() {
  if [[ -n ${following:-} ]]; then
    printf 'failed: %s\n' "$following" >&2
    tail -25 "$work/output" >&2
  fi
  kill "$emulator" 2>/dev/null
  wait "$emulator" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
until curl -sf -o /dev/null "$AWS_ENDPOINT_URL/_ministack/health"; do
  kill -0 "$emulator" 2>/dev/null || fail "MiniStack did not start: $(tail -3 "$work/ministack")"
  sleep 0.5
done

if [[ -n ${FUNIL:-} ]]; then
  command=$(realpath "$FUNIL")
else
  cargo build --quiet --locked -p funil
  command=$target/debug/funil
fi
[[ -z ${PROGRAMS:-} ]] || PROGRAMS=$(realpath "$PROGRAMS")

# The commands of the document. `sam` works on a copy of the template for the emulator, in a folder with the samconfig.toml of this
# machine's architecture.
case $(uname -m) in x86_64) architecture=x86_64 ;; *) architecture=arm64 ;; esac
sed "s/Architecture=arm64/Architecture=$architecture/" samconfig.toml >"$work/samconfig.toml"
built=("${@/%/Function}")
if [[ $# == 0 ]]; then built=($(sed -nE 's/^  ([A-Za-z]+Function):$/\1/p' template.yaml)); fi

emulate() { "$sam_tools/bin/python" "$root/tests/deploy/emulator.py" "$@"; }
aws() { "$made/bin/aws" "$@"; }
funil() { "$command" "$@"; }
sam() {
  local verb=$1 template=$work/.aws-sam/build/template.yaml
  case $verb in
    build)
      emulate adapt "$root/template.yaml" "$work/template.yaml" "${built[@]}"
      if [[ -n ${PROGRAMS:-} ]]; then
        mkdir -p "$work/.aws-sam/build"
        cp "$work/template.yaml" "$template"
        emulate artefacts "$template" "$PROGRAMS"
      else
        (cd "$work" && PATH=$sam_tools/bin:$PATH "$sam_tools/bin/sam" "$@")
      fi
      ;;
    deploy)
      (cd "$work" && "$sam_tools/bin/sam" "$@" --no-confirm-changeset --no-progressbar) || return
      local stack=funil
      [[ "$*" != *staging* ]] || stack=funil-staging
      emulate routes "$template" "$stack"
      ;;
    *) (cd "$work" && "$sam_tools/bin/sam" "$@") ;;
  esac
}
export EMULATED=1 PATH=$made/bin:$PATH

# ---------------------------------------------------------------------------------------------------- the document

# The nth fenced block of a section of the document.
block() { # heading, number
  awk -v heading="$1" -v number="$2" '
    /^#+ / { wanted = ($0 == heading) }
    !wanted { next }
    /^```/ { fenced = !fenced; if (fenced) at++; next }
    fenced && at == number
  ' "$document"
}

# Runs a block, each command as written.
follow() { # heading, number [default: 1]
  local text
  text=$(block "$1" "${2:-1}")
  text=${text//Architecture=arm64/Architecture=$architecture}
  [[ -n $text ]] || fail "$document has no block ${2:-1} under '$1'"
  printf '== %s (%s)\n' "${1#\#* }" "${2:-1}"
  printf '%s\n' "$text" | sed 's/^/   /' >>"$log"
  # Not under a condition, which would switch `set -e` off.
  following="$1, block ${2:-1}"
  eval "$text" >"$work/output" 2>&1
  following=
  cat "$work/output" >>"$log"
}

# Requires an output of the last block.
shows() { # pattern
  grep -qE -- "$1" "$work/output" || fail "nothing shows $1"
}

lead() { # id
  curl -s -o /dev/null -w '%{http_code}' -H "apitoken: $KEY" -H "Authorization: Bearer $TOKEN" "$URL/leads/$1?i=acme"
}

create() { # name; prints the id
  curl -s -H "apitoken: $KEY" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d "{\"firstname\":\"$1\"}" "$URL/leads?i=acme" | grep -oE '"id": ?[0-9]+' | grep -oE '[0-9]+' | head -1
}

# The origin that a response permits to a page of app.example.com.
origin() {
  curl -s -o /dev/null -D - -H 'Origin: https://app.example.com' "$URL/smoke-test" | tr -d '\r' |
    sed -n 's/^[Aa]ccess-[Cc]ontrol-[Aa]llow-[Oo]rigin: //p'
}

# Names the release of `git describe` in the document.
git() { echo "$label"; }

ln -s "$root/tests" "$root/docs" "$work"
cp "$root/cli/demo/demo.ndjson" "$work/data.ndjson"
cd "$work"

emulate canary "$root/template.yaml" 2>>"$log" || fail 'SAM makes another stack of the template than docs/operations.md describes'

follow '## First deployment' 1
shows 'policy/funil-boundary'
label=release/first+1
follow '## First deployment' 2
shows 'Successfully created/updated stack - funil '
follow '## First deployment' 3
[[ $URL == http*.execute-api.* && $TABLE_NAME == funil-Table-* ]] || fail "the outputs are $URL and $TABLE_NAME"
readonly first_url=$URL own_table=$TABLE_NAME

follow '### First instance' 1
shows '^0 differences'
follow '### First instance' 2
shows 'ok: with a key it is 200'
kept=$(create Kept)
[[ -n $kept && $(lead "$kept") == 200 ]] || fail "the new lead is $(lead "$kept")"

parameter() { # key
  aws cloudformation describe-stacks --stack-name funil --output text \
    --query "Stacks[0].Parameters[?ParameterKey=='$1'].ParameterValue"
}
follow '## Parameters' 1
shows 'Successfully created/updated stack - funil '
[[ $(parameter AlarmEmail) == ops@example.com && $(parameter Architecture) == "$architecture" ]] ||
  fail "the parameters are $(parameter AlarmEmail) and $(parameter Architecture)"
# Only the parameter changed. The alias needs a new version for it.
[[ $(origin) == https://app.example.com ]] || fail "the alias has the former origins: $(origin)"
follow '## Parameters' 2
follow '### Formats'

[[ $(output ReleaseLabel) == release-first-1 ]] || fail "the label is $(output ReleaseLabel)"
[[ $(parameter PermissionsBoundary) == *:policy/funil-boundary ]] || fail "the boundary is $(parameter PermissionsBoundary)"
label=second
follow '## Upgrade'
shows 'ok: the version is second'
former=release-first-1
follow '### Rollback'
shows 'ok: the version is release-first-1'
release=second
follow '### Gradual release' 1
shows 'ok: the version is second'
[[ $(parameter Canary) == Canary10Percent10Minutes ]] || fail "Canary is $(parameter Canary)"
follow '### Gradual release' 2
deploy second 'AllowedOrigins=*' >>"$log" 2>&1
[[ $(origin) == '*' ]] || fail "with Canary the alias has the former origins: $(origin)"
follow '### Rollback'
shows 'ok: the version is release-first-1'
[[ $(parameter Canary) == off && $(origin) == '*' ]] || fail "after the rollback Canary is $(parameter Canary), the origin $(origin)"
label=third
follow '## Upgrade'
[[ $(lead "$kept") == 200 ]] || fail 'an upgrade lost a lead'

follow '## Second environment'
shows 'Successfully created/updated stack - funil-staging '
follow '## Second environment' 2
other=$(cat "$work/output")
alarms=$(aws cloudwatch describe-alarms --query 'MetricAlarms[].AlarmName' --output text)
[[ $alarms == *funil-*Alarm* && $alarms != *funil-staging* ]] || fail "the alarms are $alarms"
[[ $other != "$TABLE_NAME" && -z $(funil --table "$other" instance list 2>/dev/null | grep acme) ]] || fail 'staging has the table of funil'

follow '## Restore'
TIME=$(date -u +%Y-%m-%dT%H:%M:%SZ)
aws dynamodb update-continuous-backups --table-name "$TABLE_NAME" \
  --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true >>"$log"
follow '### Point in time' 1
shows '^0 differences'
later=$(create Later)
follow '### Point in time' 2
shows '^0 differences'
follow '### Another table for the stack'
shows 'ok: with a key it is 200'
[[ $URL == "$first_url" && $(output BaseUrl) == "$first_url" ]] || fail 'the address changed'
[[ $TABLE_NAME == funil-restored && $(lead "$kept") == 200 && $(lead "$later") == 404 ]] ||
  fail "the restored table has other leads: $(lead "$kept") $(lead "$later")"
aws dynamodb describe-table --table-name "$own_table" >>"$log" || fail "the stack's own table was not retained"

aws dynamodb create-backup --table-name "$TABLE_NAME" --backup-name drill >>"$log"
follow '### Lost table'
shows ' acme$'

CERTIFICATE=
follow '## Domain' 1
ZONE=$(aws route53 create-hosted-zone --name example.com --caller-reference drill --query HostedZone.Id --output text)
ZONE=${ZONE##*/}
follow '## Domain' 2
[[ $URL == https://api.example.com ]] || fail "the address is $URL"

follow '## Tear-down' 1
follow '## Tear-down' 2
for table in "$own_table" "$other" funil-recovered; do
  aws dynamodb describe-table --table-name "$table" --query Table.TableStatus >>"$log" || fail "the tear-down deleted $table"
done
if aws dynamodb describe-table --table-name funil-restored >>"$log" 2>&1; then fail 'the table was not deleted'; fi
printf 'all commands of %s did what it says\n' "${document#"$root/"}"
