#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh SECONDS [TARGET...]: runs each fuzz target of build/fuzz for so many seconds, as many at a
# time as there are processors, and fails when one crashes, hangs or takes too much memory. What they
# learn is kept in build/fuzz/corpus for the next run; what broke them is in build/fuzz/crashes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${PROSECTOR_FUZZ_BUILD:-$here/../../build/fuzz}
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- $(cd "$build/tests/fuzz" && ls -d fuzz_* | sed 's/^fuzz_//')
mkdir -p "$build/crashes" "$build/logs"
python3 "$here/seeds.py" "$build/seeds"

export build seconds
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' sh -c '
    name={}
    mkdir -p "$build/corpus/$name"
    if "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/crashes/$name-" "$build/corpus/$name" "$build/seeds/$name" \
        > "$build/logs/$name.log" 2>&1
    then
        runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$build/logs/$name.log")
        echo "$name: clean after $runs runs"
    else
        echo "$name: FAILED, see $build/logs/$name.log"
        grep -m 3 -E "ERROR|SUMMARY|runtime error" "$build/logs/$name.log" || true
        exit 1
    fi'
