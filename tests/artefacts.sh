#!/usr/bin/env bash
# Compares the programs of `sam build` with samconfig.toml and with the deployed stack, before `sam deploy`: a program of another
# processor than its function's fails every request with 502 ("Exec format error").
#
#   tests/artefacts.sh [ENVIRONMENT]            an environment of samconfig.toml [default: default]
#   tests/artefacts.sh --change [ENVIRONMENT]   permits the stack another architecture than before
#
# ARTEFACTS is another directory than .aws-sam/build. Needs od, and the AWS CLI to read the stack. Exits with 1 if they differ.
set -euo pipefail

change=
if [[ ${1:-} == --change ]]; then
  change=1
  shift
fi
readonly change environment=${1:-default} directory=${ARTEFACTS:-.aws-sam/build}

fail() {
  printf 'failed: %s\n' "$*" >&2
  exit 1
}

# A value of the environment in samconfig.toml.
option() { # name
  awk -v header="[$environment.global.parameters]" -v name="$1" '
    /^\[/ { wanted = ($0 == header) }
    wanted && $1 == name { sub(/^[^"]*"/, ""); sub(/".*/, ""); print }
  ' samconfig.toml
}

# The architecture of a program, from the header of its ELF file.
machine() { # file
  case $(od -An -tx1 -j18 -N2 "$1" | tr -d ' \n') in
    3e00) echo x86_64 ;;
    b700) echo arm64 ;;
    *) echo unknown ;;
  esac
}

wanted=$(option parameter_overrides | tr ' ' '\n' | sed -n 's/^Architecture=//p')
stack=$(option stack_name)
[[ -n $stack ]] || fail "samconfig.toml has no environment $environment"
count=0
for program in "$directory"/*/bootstrap; do
  [[ -f $program ]] || fail "there are no programs in $directory; run sam build"
  built=$(machine "$program")
  [[ $built == "${wanted:-arm64}" ]] || fail "$program is for $built, samconfig.toml says ${wanted:-arm64}; correct samconfig.toml or run sam build"
  count=$((count + 1))
done
printf '%d programs for %s\n' "$count" "${wanted:-arm64}"

if ! command -v aws >/dev/null; then
  echo 'skipped: the AWS CLI is not installed, so the stack was not compared'
  exit
fi
deployed=$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
  --query "Stacks[0].Parameters[?ParameterKey=='Architecture'].ParameterValue" 2>/dev/null || true)
if [[ -z $deployed ]]; then
  printf 'there is no stack %s yet\n' "$stack"
elif [[ $deployed == "${wanted:-arm64}" ]]; then
  printf 'the stack %s is for %s\n' "$stack" "$deployed"
elif [[ -n $change ]]; then
  printf 'the stack %s changes from %s to %s\n' "$stack" "$deployed" "${wanted:-arm64}"
else
  fail "the stack $stack is for $deployed, samconfig.toml says ${wanted:-arm64}; correct samconfig.toml, or see --change"
fi
