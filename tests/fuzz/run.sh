#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh SECONDS [TARGET...]: runs each fuzz target of build/fuzz for so many seconds, PROSECTOR_FUZZ_JOBS
# at a time (default: as many as there are processors), and fails when one crashes, hangs, leaks or takes
# too much memory. PROSECTOR_FUZZ_SEED fixes where chance begins. What they learn is kept in
# build/fuzz/corpus for the next run; what broke them is in build/fuzz/crashes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${PROSECTOR_FUZZ_BUILD:-$here/../../build/fuzz}
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
if [ $# -eq 0 ]; then
    set -- "$build"/tests/fuzz/fuzz_*
    [ -e "$1" ] || { echo "run.sh: no fuzz targets in $build/tests/fuzz"; exit 2; }
fi
rm -rf "$build/seeds"
mkdir -p "$build/crashes" "$build/logs"
python3 "$here/seeds.py" "$build/seeds"

export build seconds
printf '%s\n' "$@" | sed 's/.*fuzz_//' | xargs -P "${PROSECTOR_FUZZ_JOBS:-$(nproc)}" -I '{}' sh -c '
    name={}
    mkdir -p "$build/corpus/$name"
    if "$build/tests/fuzz/fuzz_$name" -seed="${PROSECTOR_FUZZ_SEED:-0}" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2048 \
        -dict="$build/seeds/words" -print_final_stats=1 -artifact_prefix="$build/crashes/$name-" \
        "$build/corpus/$name" "$build/seeds/$name" > "$build/logs/$name.log" 2>&1
    then
        runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$build/logs/$name.log")
        echo "$name: clean after $runs runs"
    else
        echo "$name: FAILED, see $build/logs/$name.log"
        grep -m 3 -E "ERROR|SUMMARY|runtime error" "$build/logs/$name.log" || true
        exit 1
    fi'
