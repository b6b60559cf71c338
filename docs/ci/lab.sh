#!/bin/sh
# Runs every cell that `cargo xtask lab` has written below DIR, here, several at a
# time, and makes one report of all of them.
#
#   docs/ci/lab.sh DIR [OPTIONS OF cargo xtask matrix]
#
# Cells are found as by `cargo xtask matrix`: at any depth and behind
# links, each once, but not in folders whose names begin with a dot.
#
# Exit codes: those of `cargo xtask matrix`. 0: all passed. 1: a job, a
# test case or a verdict is not passed. 2: bad use, or something that cannot be
# run. 3: a run is missing or not complete.
#
# Environment:
#   LAVA_RUN  lava-run, of LAVA's dispatcher     [lava-run]
#   PYTEST    a pytest that has labgrid's plugin [pytest]
#   JOBS      how many cells at a time           [4]
#   GRACE     seconds that an engine may go on beyond the time of its job,
#             before it is ended                 [300]
#   XTASK     the host tool                      [cargo xtask]
set -eu

say() {
    printf '%s\n' "$1" >&2
}
refuse() {
    say "$1"
    exit 2
}

# The engine that the cell in this folder is for.
engine() {
    sed -n 's/.*"engine": *"\([a-z]*\)".*/\1/p' cell.json
}

# Refuses a cell that cannot be run.
if [ "${1:-}" = --check ]; then
    cd "$2"
    case $(engine) in
    lava) [ -f job.yaml ] || refuse "$2: there is no job.yaml: write the cell anew" ;;
    labgrid) ;;
    *) refuse "$2: cell.json names neither lava nor labgrid as its engine" ;;
    esac
    if [ -e results ]; then
        refuse "$2/results is there already: move or remove it"
    fi
    if [ -f job.yaml ] && [ ! -f device.yaml ]; then
        refuse "$2: this job is for a LAVA server: lavacli jobs submit"
    fi
    # A copy would run what the original has. Names of cells are plain; where
    # they are may need quotes, by which it could not be found.
    case $2 in
    *[!A-Za-z0-9_/.+-]*) own=/$(basename "$2")/ ;;
    *) own=file://$2/ ;;
    esac
    if [ -f job.yaml ] && grep -F file:// job.yaml | grep -qvF "$own"; then
        refuse "$2: this job takes the files of another folder: write the cell anew"
    fi
    exit 0
fi

# One cell. That a job fails is in its results, where the report finds it.
if [ "${1:-}" = --cell ]; then
    cd "$2"
    mkdir results
    # Engines end a job when its time is up, but may hang on that.
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
*[!0-9]* | 0*) refuse "GRACE=$GRACE: these are seconds, 1 or more" ;;
esac
case $jobs in
'' | *[!0-9]* | 0*) refuse "JOBS=$jobs: this is a number, 1 or more" ;;
esac
dir=$(cd "$1" && pwd -P && echo .) || refuse "$1: this cannot be read"
dir=${dir%??}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
self=$root/docs/ci/$(basename "$0")

# The cells; each ends with a zero, as it may have any other character. A cell's
# results are its own affair.
cells() {
    (cd "$dir" && find -L . -type d \( -name '.?*' -o -name results \
        -exec sh -c 'test -e "${1%/*}/cell.json"' sh '{}' ';' \) -prune -o \
        -type d -exec test -e '{}/cell.json' ';' \
        -exec sh -c 'cd -P "$1" && printf "%s\0" "$PWD"' sh '{}' ';') | LC_ALL=C sort -zu
}
if [ "$(cells | tr -cd '\0' | wc -c)" -eq 0 ]; then
    refuse "$dir: there is no cell in it: cargo xtask lab lava -o $dir writes some"
fi
cells | xargs -0 -n 1 "$self" --check || exit 2
cells | xargs -0 -n 1 -P "$jobs" "$self" --cell || exit 2

# What is wrong with the tool is no answer of its report.
code=0
if [ -n "${XTASK:-}" ]; then
    $XTASK matrix "$dir" "$@" || code=$?
else
    # As `cargo xtask`, but where the caller is: options may have paths.
    cargo run --quiet --manifest-path "$root/Cargo.toml" --package xtask -- \
        matrix "$dir" "$@" || code=$?
fi
case $code in
0 | 1 | 2 | 3) exit "$code" ;;
*) refuse "there is no report: exit code $code" ;;
esac
