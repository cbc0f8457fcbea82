#!/usr/bin/env bash
# Applies each deliberate mistake of this folder to a copy of the checkout and runs the tests that should catch it.
#
#   tests/mutations/run.sh              all of them
#   tests/mutations/run.sh NAME...      those patches, without `.patch`
#   tests/mutations/run.sh --list       their names, tests and files
#
# A patch begins with a line `Tests: ARGUMENTS`, the arguments of `cargo test`. The result is one line for each: caught, or
# SURVIVED, or STALE where the patch does not apply, or INVALID where the mistake does not compile. Exits with 1 unless all are
# caught. Needs Rust and git. The copy and its build are in target/mutations; the first build takes some minutes, each mistake
# one or two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

root=$PWD
folder=$root/tests/mutations
copy=$root/target/mutations/tree

tests_of() { # patch
  sed -n 's/^Tests: //p;/^$/q' "$1"
}

if [[ ${1:-} == --list ]]; then
  for patch in "$folder"/*.patch; do
    printf '%-45s %-55s %s\n' "$(basename "$patch" .patch)" "$(tests_of "$patch")" "$(sed -n 's#^+++ b/##p' "$patch")"
  done
  exit
fi

names=("$@")
if [[ $# -eq 0 ]]; then
  for patch in "$folder"/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi

# The copy has its own modification times, so an unchanged file is not compiled again.
mkdir -p "$copy"
git ls-files -z | tar --null --files-from=- -cf - | tar -x -C "$copy"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/mutations/build} CARGO_TERM_COLOR=never

run() { # name
  local patch=$folder/$1.patch arguments log=$root/target/mutations/$1.log
  read -ra arguments <<<"$(tests_of "$patch")"
  if ! git apply --directory="${copy#"$root"/}" "$patch" 2>"$log"; then
    echo STALE
    return
  fi
  if ! cargo test --quiet --no-run --manifest-path "$copy/Cargo.toml" "${arguments[@]}" >"$log" 2>&1; then
    echo INVALID
  elif (cd "$copy" && timeout 900 cargo test --quiet "${arguments[@]}") >"$log" 2>&1; then
    echo SURVIVED
  else
    echo caught
  fi
  git apply --reverse --directory="${copy#"$root"/}" "$patch"
}

missed=0
for name in "${names[@]}"; do
  began=$SECONDS
  result=$(run "$name")
  printf '%-8s %4d s  %s\n' "$result" $((SECONDS - began)) "$name"
  [[ $result == caught ]] || missed=$((missed + 1))
done
printf '%d of %d caught\n' $((${#names[@]} - missed)) "${#names[@]}"
exit $((missed > 0))
