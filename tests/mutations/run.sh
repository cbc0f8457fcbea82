#!/usr/bin/env bash
# Applies each deliberate mistake of this folder to a copy of the checkout and runs the tests that should catch it.
#
#   tests/mutations/run.sh              all of them
#   tests/mutations/run.sh NAME...      those mistakes
#   tests/mutations/run.sh --list       their names, tests and files
#   tests/mutations/run.sh --check      whether all of them can be applied, without a build
#
# A file `AREA.patches` has the mistakes in a part of the product. Each is a line `Mistake: NAME`, a line `Tests: ARGUMENTS` with the
# arguments of `cargo test`, a blank line and a patch. The result is one line for each: caught, or SURVIVED, or STALE where the patch
# does not apply, or INVALID where the mistake does not compile. Exits with 1 unless all are caught. Needs Rust and git. The copy and
# its build are in target/mutations; the first build takes some minutes, each mistake one or two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

root=$PWD
patches=("$root"/tests/mutations/*.patches)
copy=$root/target/mutations/tree

# The lines of a mistake after its name.
mistake() { # name
  awk -v wanted="Mistake: $1" '/^Mistake: / { shown = $0 == wanted; next } shown' "${patches[@]}"
}

tests_of() { # name
  mistake "$1" | sed -n 's/^Tests: //p;/^$/q'
}

names=("$@")
if [[ $# -eq 0 || $1 == --* ]]; then
  mapfile -t names < <(sed -n 's/^Mistake: //p' "${patches[@]}" | sort)
fi

case ${1:-} in
  --list)
    for name in "${names[@]}"; do
      printf '%-45s %-55s %s\n' "$name" "$(tests_of "$name")" "$(mistake "$name" | sed -n 's#^+++ b/##p')"
    done
    exit
    ;;
  --check)
    stale=0
    for name in "${names[@]}"; do
      mistake "$name" | git apply --check || { printf 'STALE    %s\n' "$name" && stale=1; }
    done
    exit "$stale"
    ;;
esac

# The copy has its own modification times, so an unchanged file is not compiled again.
mkdir -p "$copy"
git ls-files -z | tar --null --files-from=- -cf - | tar -x -C "$copy"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/mutations/build} CARGO_TERM_COLOR=never

run() { # name
  local arguments log=$root/target/mutations/$1.log patch=$root/target/mutations/$1.patch
  mistake "$1" >"$patch"
  read -ra arguments <<<"$(tests_of "$1")"
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
