#!/bin/sh
# On this host, runs all the cells that `cargo xtask lab` has written below DIR,
# several at a time, and writes one report on all of them.
#
#   docs/ci/lab.sh DIR [OPTIONS OF cargo xtask matrix]
#
# This script finds the same cells as `cargo xtask matrix`: at any depth and through
# links, but not in folders whose names begin with a dot. Each cell is run only once.
#
# Exit codes: those of `cargo xtask matrix`. 0: all passed. 1: a job, a test case
# or a verdict did not pass. 2: bad usage, or something cannot be run. 3: a run is
# missing or incomplete.
#
# Environment:
#   LAVA_RUN  lava-run from the LAVA dispatcher  [lava-run]
#   PYTEST    a pytest with the labgrid plugin   [pytest]
#   JOBS      number of cells to run at a time   [4]
#   GRACE     seconds by which an engine may exceed its job's time limit
#             before it is stopped               [300]
#   XTASK     the host tool                      [cargo xtask]
set -eu

say() {
    printf '%s\n' "$1" >&2
}
refuse() {
    say "$1"
    exit 2
}

# Prints the engine of the cell in this folder.
engine() {
    sed -n 's/.*"engine": *"\([a-z]*\)".*/\1/p' cell.json
}

# Rejects a cell that cannot be run.
if [ "${1:-}" = --check ]; then
    cd "$2"
    case $(engine) in
    lava) [ -f job.yaml ] || refuse "$2: there is no job.yaml; write the cell again" ;;
    labgrid) ;;
    *) refuse "$2: cell.json names neither lava nor labgrid as its engine" ;;
    esac
    if [ -e results ]; then
        refuse "$2/results already exists; move or remove it"
    fi
    if [ -f job.yaml ] && [ ! -f device.yaml ]; then
        refuse "$2: this job is for a LAVA server: lavacli jobs submit"
    fi
    # A copied job would use the original's files. If the folder's path may need
    # quotes in YAML, only the cell's name is checked, because it needs no quotes.
    case $2 in
    *[!A-Za-z0-9_/.+-]*) own=/$(basename "$2")/ ;;
    *) own=file://$2/ ;;
    esac
    if [ -f job.yaml ] && grep -F file:// job.yaml | grep -qvF "$own"; then
        refuse "$2: this job uses the files of another folder; write the cell again"
    fi
    exit 0
fi

# Runs one cell. A failed job is recorded in its results, which the report reads.
if [ "${1:-}" = --cell ]; then
    cd "$2"
    mkdir results
    # Engines end a job when its time is up, but may hang in the process.
    minutes=$(sed -n 's/^ *"minutes": *\([0-9]*\).*/\1/p' cell.json)
    bounded="timeout -k 30 $((${minutes:-60} * 60 + ${GRACE:-300}))"
    if [ "$(engine)" = lava ]; then
        $bounded ${LAVA_RUN:-lava-run} --job-id "$$" --output-dir results/lava \
            --device device.yaml job.yaml >results/lava.log 2>&1 ||
            say "$2: lava-run ended with exit code $?"
    else
        $bounded ${PYTEST:-pytest} --lg-env env.yaml --junit-xml results/junit.xml \
            >results/pytest.out 2>&1 ||
            say "$2: pytest ended with exit code $?"
    fi
    exit 0
fi

if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    refuse "usage: $0 DIR [OPTIONS OF cargo xtask matrix]"
fi
jobs=${JOBS:-4}
case ${GRACE:-300} in
*[!0-9]* | 0*) refuse "GRACE=$GRACE: expected a number of seconds, 1 or more" ;;
esac
case $jobs in
'' | *[!0-9]* | 0*) refuse "JOBS=$jobs: expected a number, 1 or more" ;;
esac
dir=$(cd "$1" && pwd -P && echo .) || refuse "$1: cannot read this folder"
dir=${dir%??}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
self=$root/docs/ci/$(basename "$0")

# Prints the cells, each terminated by a NUL byte, because a path may contain any
# other byte. Folders with results are not searched.
cells() {
    (cd "$dir" && find -L . -type d \( -name '.?*' -o -name results \
        -exec sh -c 'test -e "${1%/*}/cell.json"' sh '{}' ';' \) -prune -o \
        -type d -exec test -e '{}/cell.json' ';' \
        -exec sh -c 'cd -P "$1" && printf "%s\0" "$PWD"' sh '{}' ';') | LC_ALL=C sort -zu
}
if [ "$(cells | tr -cd '\0' | wc -c)" -eq 0 ]; then
    refuse "$dir: it has no cells; cargo xtask lab lava -o $dir writes some"
fi
cells | xargs -0 -n 1 "$self" --check || exit 2
cells | xargs -0 -n 1 -P "$jobs" "$self" --cell || exit 2

# Other exit codes mean that the tool failed and wrote no report.
code=0
if [ -n "${XTASK:-}" ]; then
    $XTASK matrix "$dir" "$@" || code=$?
else
    # Like `cargo xtask`, but run in the caller's directory, because options may contain
    # paths.
    cargo run --quiet --manifest-path "$root/Cargo.toml" --package xtask -- \
        matrix "$dir" "$@" || code=$?
fi
case $code in
0 | 1 | 2 | 3) exit "$code" ;;
*) refuse "no report: exit code $code" ;;
esac
