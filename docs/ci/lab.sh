#!/bin/sh
# Runs every cell that `cargo xtask lab` has written below DIR, here, several at a
# time, and makes one report of all of them.
#
#   docs/ci/lab.sh DIR [OPTIONS OF cargo xtask report]
#
# Exit codes: those of `cargo xtask report --matrix`. 0: all passed. 1: a job, a
# test case or a verdict is not passed. 2: bad use. 3: a run is missing or not
# complete.
#
# Environment:
#   LAVA_RUN  lava-run, of LAVA's dispatcher     [lava-run]
#   PYTEST    a pytest that has labgrid's plugin [pytest]
#   JOBS      how many cells at a time           [4]
#   XTASK     the host tool                      [cargo xtask]
set -eu

# One cell. That a job fails is in its results, where the report finds it.
if [ "${1:-}" = --cell ]; then
    cd "$2"
    mkdir results
    if [ -f job.yaml ]; then
        ${LAVA_RUN:-lava-run} --job-id "$$" --output-dir results/lava \
            --device device.yaml job.yaml >results/lava.log 2>&1 ||
            echo "$2: lava-run ended with exit code $?" >&2
    else
        ${PYTEST:-pytest} --lg-env env.yaml --junit-xml results/junit.xml \
            >results/pytest.out 2>&1 ||
            echo "$2: pytest ended with exit code $?" >&2
    fi
    exit 0
fi

if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    echo "usage: $0 DIR [OPTIONS OF cargo xtask report]" >&2
    exit 2
fi
dir=$(cd "$1" && pwd)
shift
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
case $dir in
*[[:space:]]*)
    echo "$dir: this script takes no blanks in names" >&2
    exit 2
    ;;
esac
cells=$(find "$dir" -name cell.json | sort)
if [ -z "$cells" ]; then
    echo "$dir: there is no cell in it: cargo xtask lab -o $dir writes some" >&2
    exit 2
fi
for cell in $cells; do
    if [ -e "$(dirname "$cell")/results" ]; then
        echo "$(dirname "$cell")/results is there already: move or remove it" >&2
        exit 2
    fi
    if [ -f "$(dirname "$cell")/job.yaml" ] && [ ! -f "$(dirname "$cell")/device.yaml" ]; then
        echo "$(dirname "$cell"): this job is for a LAVA server: lavacli jobs submit" >&2
        exit 2
    fi
done
for cell in $cells; do dirname "$cell"; done |
    xargs -P "${JOBS:-4}" -I CELL "$self" --cell CELL
cd "$(dirname "$self")/../.."
exec ${XTASK:-cargo xtask} report --matrix "$dir" "$@"
