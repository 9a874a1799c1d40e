#!/usr/bin/env bash
# Runs every fuzzer for SECONDS each, on a copy of its corpus, and fails on the first finding.
#   cmake --preset asan && ninja -C build/asan && tests/fuzz/run.sh 60 [name…]
# A finding stays in build/asan/findings; what it shows becomes a unit test and a file of the corpus.
set -euo pipefail

seconds=${1:?usage: run.sh SECONDS [fuzzer…]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${STET_FUZZ_BUILD:-$root/build/asan}
findings=$build/findings
mkdir -p "$findings"

failed=()
ran=0
while read -r name binary corpus; do
  [[ -n $name ]] || continue
  if [[ $# -gt 0 && " $* " != *" $name "* ]]; then continue; fi
  ran=$((ran + 1))
  work=$(mktemp -d)
  cp -r "$corpus"/. "$work"/
  echo "== $name, $seconds s"
  if ! "$binary" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -verbosity=0 -artifact_prefix="$findings/$name-" "$work"; then
    failed+=("$name")
  fi
  rm -rf "$work"
done < "$build/fuzzers.list"

if [[ $ran -eq 0 ]]; then
  echo "no fuzzer of that name in $build/fuzzers.list" >&2
  exit 2
fi
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "findings: ${failed[*]} (inputs in $findings)" >&2
  exit 1
fi
echo "$ran fuzzers, no findings"
