#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: install the grader, record the hidden cases, and check the result.
set -euo pipefail

base=${AUTOGRADER:-/autograder}
kit="$base/source/headway"
venv="$base/venv"

install() {
  if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python3 -m venv "$venv" || { apt-get update -qq && apt-get install -y -qq python3-venv && python3 -m venv "$venv"; }
  else  # the image's Python is too old or missing: uv downloads one
    apt-get update -qq && apt-get install -y -qq python3-pip
    python3 -m pip install --quiet uv
    python3 -m uv venv --seed --python 3.12 "$venv"
  fi
  "$venv/bin/python" -m pip install --quiet --constraint "$kit/constraints.txt" torch \
    --index-url "${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}"
  "$venv/bin/python" -m pip install --quiet "$kit"
}

[ -x "$venv/bin/grader" ] || install

# Grade the empty stubs. If they are not graded, or get points, the build of the image fails.
proof=$(mktemp -d)
trap 'rm -rf "$proof"' EXIT
mkdir -p "$proof/results"
ln -s "$base/source" "$base/venv" "$proof/"
cp -r "$kit/assignments/"*/ "$proof/submission"
AUTOGRADER="$proof" XDG_CACHE_HOME="$base/cache" "$base/source/run_autograder"
"$venv/bin/python" - "$proof/results/results.json" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    results = json.load(file)
if results["score"] or not results["tests"]:
    sys.exit(f"the empty stubs should be graded and get no points; the result was {results}")
print("ready: the empty stubs are graded and get no points")
END
