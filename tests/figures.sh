#!/usr/bin/env bash
# Prints the figures of the code's structure. Lines of code are neither blank nor comment.
#
#   tests/figures.sh              of the checkout
#   tests/figures.sh 6f0bca6      of a commit
#   tests/figures.sh --run        the files that `GET /leads` enters, of a debug build of the checkout
#
# - Tests are files of tests, benches and fuzzing, and what `#[cfg(test)]` or the features `testing` and `fuzzing` enable:
#   modules with a file of their own, and modules and other items inside a file of the product.
# - An import is a `use` or a path in a product file that leads to an item of another file of the same crate. A name is
#   followed through `pub use` to the file that defines it, so a re-export is no import.
# - A circle is a strongly connected component of these imports, without imports from a file's ancestors (the modules that
#   contain it).
# - An arrow back up is an import by a file of `shared/src/store` from an ancestor that reaches the file by imports.
# - A kind of partition is the first part of a partition key that `shared/src/store/key` builds.
# - A function's lines are those of its body, as clippy's `too_many_lines` counts them.
# - A request enters the files whose code runs while hyper answers it, from the connection to the table's engine.
#
# Needs bash, git and Python 3; for --run also cargo, curl and valgrind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'kill "${service:-}" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# Starts the service under a command, if there is one, and waits until it listens.
start() { # command...
  "$@" target/debug/funil serve --data "$scratch/data" --port 0 >"$scratch/said" 2>"$scratch/log" &
  service=$!
  until url=$(sed -n 's/^listening on //p' "$scratch/said") && [[ -n $url ]]; do
    kill -0 "$service" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
    sleep 0.2
  done
}
stop() {
  kill -INT "$service"
  wait "$service" || true
}

if [[ ${1:-} == --run ]]; then
  cargo build --quiet
  # The first start loads the demo.
  start env
  sed -nE 's/^ *API key */apitoken: /p; s/^ *access token */Authorization: Bearer /p' "$scratch/said" >"$scratch/headers"
  stop
  start valgrind --quiet --tool=callgrind --callgrind-out-file="$scratch/calls" \
    --toggle-collect='hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_catch'
  curl --silent --show-error --fail --max-time 60 --header "@$scratch/headers" "$url/leads?i=demo" >"$scratch/answer"
  stop
  sed -nE "s|^c?f[lie]=\([0-9]+\) $PWD/((shared\|functions\|cli)/.*\.rs)\$|\1|p" "$scratch"/calls* | sort -u >"$scratch/files"
  cat "$scratch/files"
  printf 'files that GET /leads enters %13d\n' "$(wc -l <"$scratch/files")"
  exit
fi

tree=. tracked=$(git ls-files | wc -l)
if [[ $# -gt 0 ]]; then
  tree=$scratch
  git archive "$1" | tar -x -C "$tree"
  tracked=$(git ls-tree -r --name-only "$1" | wc -l)
fi

python3 - "$tree" "$tracked" <<'PYTHON'
import re, sys
from collections import defaultdict
from pathlib import Path

sys.setrecursionlimit(10_000)
root = Path(sys.argv[1])
TEST_FILE = re.compile(r"^(tests|fuzz)/|/(tests|benches)/|/tests?\.rs$|_tests\.rs$")
TEST_GATE = re.compile(r'^ *#\[cfg\((?:any\()?(?:(?:test|feature = "(?:testing|fuzzing)")(?:, )?)+\)?\)\]\n', re.M)
VISIBLE = r"(?:pub(?:\([^)]*\))? )?"
TEXTS = re.compile(r"""//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|\bb?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"|b?'(?:\\.|[^'\\])'""", re.S)


def bare(text):
    """The text with its line ends, without comments and without what is inside texts."""
    return TEXTS.sub(lambda found: ("" if found[0][0] == "/" else '""') + "\n" * found[0].count("\n"), text)


def item_end(text, start):
    """The end of an item: of its first braces, or of its line if a `;` or `,` comes before them."""
    depth = 0
    for found in re.compile(r"[{}()\[\];,]").finditer(text, start):
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(found[0], 0)
        if depth < 0 or depth == 0 and found[0] in "};,":
            return found.end()
    return len(text)


def code(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


sources = {}
for folder in ("shared", "functions", "cli", "tests", "fuzz"):
    for path in sorted((root / folder).rglob("*.rs")):
        if "target" not in path.parts:
            sources[str(path.relative_to(root))] = path.read_text()


def module_folder(name):
    path = Path(name)
    return path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")


def test_lines(name):
    """The numbers of the lines that only tests compile, and adds files of test modules to `test_files`."""
    text, found = bare(sources[name]), set()
    starts = [0] + [end.end() for end in re.finditer("\n", text)]
    for gate in TEST_GATE.finditer(sources[name]):
        first = sources[name].count("\n", 0, gate.start())
        end = item_end(text, starts[first + 1])
        found.update(range(first, text.count("\n", 0, end) + 1))
        module = re.match(rf"\s*{VISIBLE}mod (\w+);", text[starts[first + 1]:end])
        if module:
            path = module_folder(name) / module[1]
            test_files.update(other for other in sources if other == f"{path}.rs" or other.startswith(f"{path}/"))
    return found


test_files = {name for name in sources if TEST_FILE.search(name)}
gated = {name: test_lines(name) for name in sources}
product = {}
for name in sorted(sources.keys() - test_files):
    lines = sources[name].splitlines(keepends=True)
    product[name] = "".join(line for at, line in enumerate(lines) if at not in gated[name])
product_lines = sum(map(code, product.values()))
all_lines = sum(map(code, sources.values()))
product = {name: bare(text) for name, text in product.items()}

# Imports by file: `modules` has the file of each module of each crate, `uses` what the names of a file stand for.
modules = {}
for name in product:
    crate, inside, path = name.partition("/src/")
    parts = tuple(part for part in path.removesuffix(".rs").split("/") if part not in ("mod", "lib"))
    if inside:
        modules[crate, parts] = name
place = {name: module for module, name in modules.items()}


def expand(tree):
    """The paths of a `use` with the names that they get."""
    group = re.match(r"([^{]*)\{(.*)\}$", tree, re.S)
    if not group:
        path, _, alias = tree.strip().partition(" as ")
        parts = path.removesuffix("::self").split("::")
        return [(parts, alias or parts[-1])] if path else []
    parts, depth = [""], 0
    for letter in group[2]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [found for part in parts if part.strip() for found in expand(group[1] + part.strip())]


USE = re.compile(rf"^ *({VISIBLE})use ([^;]+);", re.M)
uses, paths = {}, {}
for name in place:
    found = [(path, alias, bool(use[1])) for use in USE.finditer(product[name])
             for path, alias in expand(re.sub(r"\s+", " ", use[2]))]
    uses[name] = {alias: path for path, alias, _ in found}
    paths[name] = [path for path, _, is_public in found if not is_public]
    paths[name] += [path.split("::") for path in re.findall(r"(?<![\w:])(?:\w+::)+\w+", USE.sub("", product[name]))]


def definition(name, path, depth=0):
    """The file that defines the item of a path, or `None`: it is a module, or of another crate."""
    crate, module = place[name]
    first = path[0] if path else None
    if first == "crate":
        module, path = (), path[1:]
    elif first in ("self", "super"):
        while path and path[0] in ("self", "super"):
            module, path = (module[:-1] if path[0] == "super" else module), path[1:]
    elif (crate, (*module, first)) not in modules:
        meant = uses[name].get(first)
        return definition(name, meant + path[1:], depth + 1) if meant and meant != path and depth < 9 else None
    while path and (crate, (*module, path[0])) in modules:
        module, path = (*module, path[0]), path[1:]
    file = modules.get((crate, module))
    if not path or not file:
        return None
    meant = uses[file].get(path[0])
    return definition(file, meant + path[1:], depth + 1) if meant and depth < 9 else file


imports = {name: {definition(name, path) for path in paths[name]} - {None, name} for name in place}


def is_ancestor(other, name):
    (crate, above), (own_crate, module) = place[other], place[name]
    return crate == own_crate and len(above) < len(module) and module[:len(above)] == above


def reached(start, graph):
    seen, todo = set(), [start]
    while todo:
        new = graph[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


across = {name: {other for other in found if not is_ancestor(other, name)} for name, found in imports.items()}
below = {name: reached(name, across) for name in across}
circles = {tuple(sorted(other for other in below[name] if name in below[other])) for name in below if name in below[name]}
store = {name: {other for other in found if other.startswith("shared/src/store/")}
         for name, found in imports.items() if name.startswith("shared/src/store/")}
back_up = [(name, other) for name, found in store.items() for other in found
           if is_ancestor(other, name) and name in reached(other, store)]

keys = "\n".join(sources[name] for name in product if re.match(r"shared/src/store/key(/|\.rs)", name))
constants = dict(re.findall(r'const (\w+): &str = "([^"]*)";', keys))
partitions = set(re.findall(r'"(#[a-z]+)', sources["shared/src/store/key.rs"]))
for text, constant in re.findall(r'\bpk\(\s*(?:&format!\(\s*)?(?:"([^"]+)"|([A-Z_]+)\b)', keys):
    text = constants.get(constant, text)
    partitions.add(re.sub(r"\{([A-Z_]+)\}", lambda found: constants[found[1]], text).split("#")[0])

def long_functions(texts):
    """The number of functions with over 45 lines between their braces."""
    bodies = (text[found.end():item_end(text, found.end())].partition("{\n")[2]
              for text in texts for found in re.finditer(r"\bfn \w+", text))
    return sum(code(body) > 46 for body in bodies)


def lines_of(name):
    return (root / name).read_text().splitlines()


profiles = 0
for name in ("Cargo.toml", "functions/.cargo/config.toml"):
    section = ""
    for line in lines_of(name):
        section = line if line.startswith("[") else section
        profiles += section.startswith("[profile.") and bool(line.strip())
documents = [*root.glob("*.md"), *root.glob("docs/*.md")]

for title, figure in (
    ("product code lines", product_lines),
    ("test code lines", all_lines - product_lines),
    ("test lines / product code", f"{(all_lines - product_lines) / product_lines:.2f}"),
    ("circles of files", len(circles)),
    ("arrows back up in store", len(back_up)),
    ("kinds of partition", len(partitions)),
    ("files over 400 lines", sum(len(text.splitlines()) > 400 for text in sources.values())),
    ("functions over 45 lines", long_functions(map(bare, sources.values()))),
    ("    of them in the product", long_functions(product.values())),
    ("lines of template.yaml", len(lines_of("template.yaml"))),
    ("lines of openapi.yaml", len(lines_of("openapi.yaml"))),
    ("words of documents", sum(len(path.read_text().split()) for path in documents)),
    ("tracked files", sys.argv[2]),
    ("lines of Cargo profiles", profiles),
):
    print(f"{title:<34}{figure:>8}")
    for group in sorted(circles) if title == "circles of files" else ():
        print(f"    {', '.join(group)}")
PYTHON
