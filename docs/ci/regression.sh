#!/bin/sh
# Builds TF-A, runs psci-bench on it under QEMU, and compares the figures with
# those of a stored run. Fails if a figure is worse.
#
#   docs/ci/regression.sh BASELINE [OPTIONS OF cargo xtask qemu]
#
# BASELINE is the log of a run with the same options. With UPDATE=1 this run becomes
# the baseline if it passes, and nothing is compared. Paths in OPTIONS must be
# absolute, because this script runs in psci-bench's directory.
#
# Exit codes: 0: no figure is worse. 1: a figure is worse, or the run did not pass.
# 2: bad usage, or something cannot be built. 3: the run is incomplete.
#
# Environment:
#   OUT        directory for the log and the reports    [psci-bench-results]
#   TOLERANCE  largest change in a figure to ignore     [2%]
#   UPDATE     1: keep this run as BASELINE
#   XTASK      the host tool                            [cargo xtask]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BASELINE [OPTIONS OF cargo xtask qemu]" >&2
    exit 2
fi
here=$(pwd)
absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$here/$1" ;;
    esac
}
baseline=$(absolute "$1")
shift
out=$(absolute "${OUT:-psci-bench-results}")
log=$out/run.log
xtask=${XTASK:-cargo xtask}
refuse() {
    printf '%s\n' "$1" >&2
    exit 2
}
if [ "${UPDATE:-}" != 1 ] && [ ! -e "$baseline" ]; then
    refuse "$baseline: there is no such run yet; UPDATE=1 stores one"
fi
[ -d "$(dirname "$baseline")" ] || refuse "$(dirname "$baseline"): there is no such directory"
mkdir -p "$out" || refuse "$out: cannot create this directory for the results"
if [ "$baseline" = "$log" ] || [ "$baseline" -ef "$log" ]; then
    refuse "$baseline: each run's log is written here; set OUT to another directory"
fi
# Any files left afterwards are from this run.
rm -f "$log" "$out/junit.xml" "$out/comparison.md" || refuse "$out: cannot remove the old results"
cd "$(dirname "$0")/../.."

# QEMU's instruction clock makes the figures independent of the CI machine.
code=0
$xtask qemu --icount --log "$log" "$@" >/dev/null || code=$?
[ -s "$log" ] || refuse "the run wrote no log: see above, or leave out an option that runs nothing"
if [ "$code" != 0 ]; then
    # The run did not pass, so return its exit code.
    $xtask report "$log" --format junit -o "$out/junit.xml" || :
    exit "$code"
fi
if [ "${UPDATE:-}" = 1 ]; then
    $xtask report "$log" --format junit -o "$out/junit.xml"
    cp "$log" "$baseline" || refuse "$baseline: cannot write this file"
    echo "$baseline: stored" >&2
    exit 0
fi
compare() {
    $xtask compare "$baseline" "$log" --tolerance "${TOLERANCE:-2%}" --format "$1" -o "$out/$2"
}
# The exit code is that of the comparison.
compare junit junit.xml || code=$?
compare md comparison.md || code=$?
exit "$code"
