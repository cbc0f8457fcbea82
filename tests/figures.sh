#!/usr/bin/env bash
# Prints the figures of the code's structure: product and test lines, API-layer lines per route, import circles, names
# with two meanings, and habits of the comments. Lines of code are neither blank nor comment.
#
#   tests/figures.sh          of the checkout
#   tests/figures.sh 6f0bca6  of a commit
#
# Needs bash, git and Python 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tree=.
if [[ $# -gt 0 ]]; then
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  git archive "$1" | tar -x -C "$tree"
fi

python3 - "$tree" <<'PYTHON'
import re, sys
from collections import defaultdict
from pathlib import Path

root = Path(sys.argv[1])
IS_TEST = re.compile(r"^(tests|fuzz)/|/(tests|benches)/|/tests?\.rs$|_tests\.rs$")
sources = {}
for folder in ("shared", "functions", "cli", "tests", "fuzz"):
    for path in sorted((root / folder).rglob("*.rs")):
        if "target" not in path.parts:
            sources[str(path.relative_to(root))] = path.read_text().splitlines()


def split(name, lines):
    """The product's lines of a file and the tests'; a test module stands at a file's end."""
    if IS_TEST.search(name):
        return [], lines
    for at, line in enumerate(lines):
        if line.strip() == "#[cfg(test)]" and at + 1 < len(lines) and lines[at + 1].startswith("mod "):
            return lines[:at], lines[at:]
    return lines, []


def code(lines):
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("//"))


product = {name: split(name, lines)[0] for name, lines in sources.items()}
tests = {name: split(name, lines)[1] for name, lines in sources.items()}
product_lines = sum(code(lines) for lines in product.values())
test_lines = sum(code(lines) for lines in tests.values())

# The groups that clients call: those with an HttpApi event in the template.
template = (root / "template.yaml").read_text()
routes = len(re.findall(r"Method: (?!ANY)[A-Z]+\s+Path:", template))
api = sum(code(lines) for name, lines in product.items()
          if name.startswith("functions/") and not re.match(r"functions/(automations|maintenance)/", name))

# Imports between the modules directly below a crate's root, and of the store's modules among each other.
def module(name, crate):
    parts = name.removeprefix(f"{crate}/src/").removesuffix(".rs").removesuffix("/mod").split("/")
    return "/".join(parts[:2]) if parts[0] in ("store", "import") else parts[0]


edges = defaultdict(set)
modules = set()
for name, lines in product.items():
    crate = next((c for c in re.findall(r"^(.*?)/src/", name)), None)
    if crate:
        modules.add((crate, module(name, crate)))
for name, lines in product.items():
    found = re.match(r"^(.*?)/src/", name)
    if not found:
        continue
    crate = found[1]
    own = module(name, crate)
    text = "\n".join(lines)
    for path in re.findall(r"\bcrate::([a-z_]+(?:::[a-z_]+)*)", text):
        parts = path.split("::")
        for size in (2, 1):
            target = (crate, "/".join(parts[:size]))
            if len(parts) >= size and target in modules and target[1] != own:
                edges[(crate, own)].add(target)
                break


def circles():
    index, low, stack, on, found, counter = {}, {}, [], set(), [], [0]
    sys.setrecursionlimit(10_000)

    def visit(node):
        index[node] = low[node] = counter[0]
        counter[0] += 1
        stack.append(node)
        on.add(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while True:
                member = stack.pop()
                on.discard(member)
                group.append(member)
                if member == node:
                    break
            if len(group) > 1:
                found.append(sorted("/".join(member) for member in group))

    for node in sorted(modules):
        if node not in index:
            visit(node)
    return found


names = defaultdict(set)
for name, lines in product.items():
    for line in lines:
        found = re.match(r"\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) ([A-Z]\w*)", line)
        if found and not line.startswith("    type "):
            names[found[1]].add(name)
twice = {name: where for name, where in names.items() if len(where) > 1}

comments = [line.strip().lstrip("/!").strip() for lines in sources.values() for line in lines
            if line.strip().startswith("//")]
per_thousand = lambda count: 1000 * count / max(1, len(comments))
opening = sum(1 for line in comments if re.match(r"(What|Whoever|Whose|Whom)\b", line))
behind = sum(1 for line in comments if re.search(r"\bbehind\b", line))
large = sorted(((len(lines), name) for name, lines in sources.items() if len(lines) > 400), reverse=True)
found = circles()

print(f"product code lines              {product_lines:>8}")
print(f"test lines                      {test_lines:>8}")
print(f"test lines / product code       {test_lines / product_lines:>8.2f}")
print(f"API-layer code per route        {api / routes:>8.0f}   ({api} lines, {routes} routes)")
print(f"circles of modules              {len(found):>8}")
for group in found:
    print(f"    {', '.join(group)}")
print(f"type names with two definitions {len(twice):>8}")
print(f"comments that open with What/Whoever/Whose, per 1,000 {per_thousand(opening):>6.1f}")
print(f"'behind' in comments, per 1,000                       {per_thousand(behind):>6.1f}")
print(f"files over 400 lines            {len(large):>8}")
PYTHON
