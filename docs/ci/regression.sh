#!/bin/sh
# Builds TF-A, runs psci-bench on it under QEMU, and compares the figures with
# those of a run that was kept: fails where one is worse.
#
#   docs/ci/regression.sh BASELINE [OPTIONS OF cargo xtask qemu]
#
# BASELINE is the log of a run with the same options. With UPDATE=1 this run is
# made the baseline, and nothing is compared.
#
# Exit codes: 0: no figure is worse. 1: one is, or the run did not pass. 2: bad
# use, or something that cannot be built. 3: the run is not complete.
#
# Environment:
#   OUT     where log and reports go               [psci-bench-results]
#   RTOL    the share that a figure may change by  [2%]
#   UPDATE  1: keep this run as BASELINE
#   XTASK   the host tool                          [cargo xtask]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BASELINE [OPTIONS OF cargo xtask qemu]" >&2
    exit 2
fi
here=$(pwd)
absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$here/$1" ;;
    esac
}
baseline=$(absolute "$1")
shift
out=$(absolute "${OUT:-psci-bench-results}")
xtask=${XTASK:-cargo xtask}
if [ "${UPDATE:-}" != 1 ] && [ ! -e "$baseline" ]; then
    echo "$baseline: there is no such run yet: UPDATE=1 keeps one" >&2
    exit 2
fi
mkdir -p "$out"
cd "$(dirname "$0")/../.."

# By QEMU's instruction clock: else the figures are the CI machine's.
$xtask qemu --icount --log "$out/run.log" "$@" >/dev/null
$xtask report "$out/run.log" --format junit -o "$out/junit.xml"
if [ "${UPDATE:-}" = 1 ]; then
    cp "$out/run.log" "$baseline"
    echo "$baseline: kept" >&2
    exit 0
fi
exec $xtask report "$out/run.log" --baseline "$baseline" --rtol "${RTOL:-2%}" \
    --format md -o "$out/comparison.md"
