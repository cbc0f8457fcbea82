#!/usr/bin/env bash
# Prints a table: each clause of the contract (C-1, C-2, …) and the tests that cite it. Needs Python 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 - <<'PYTHON'
import re
from collections import defaultdict
from pathlib import Path

tests = defaultdict(set)
for below in ("shared", "functions", "cli", "tests", "fuzz"):
    for path in sorted(Path(below).rglob("*.rs")):
        # The text up to a test and its body belong to it; the head of a file belongs to its first test.
        for part in re.split(r"(?<=\n\})\n", path.read_text()):
            name = re.search(r"#\[(?:tokio::)?test[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:async )?fn (\w+)", part)
            if name or "/tests/" in f"/{path}":
                for clause in re.findall(r"C-(\d+)", part):
                    tests[int(clause)].add(f"{path}" + (f"::{name[1]}" if name else ""))

print("| clause | tests |\n| --- | --- |")
for clause in sorted(tests):
    print(f"| C-{clause} | {', '.join(sorted(tests[clause]))} |")
PYTHON
