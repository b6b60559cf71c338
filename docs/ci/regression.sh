#!/bin/sh
# Builds TF-A, runs psci-bench on it under QEMU, and compares the figures with
# those of a run that was kept: fails where one is worse.
#
#   docs/ci/regression.sh BASELINE [OPTIONS OF cargo xtask qemu]
#
# BASELINE is the log of a run with the same options. With UPDATE=1 this run is
# made the baseline, if it passes, and nothing is compared. Paths in OPTIONS are
# absolute: this runs in psci-bench's directory.
#
# Exit codes: 0: no figure is worse. 1: one is, or the run did not pass. 2: bad
# use, or something that cannot be built. 3: the run is not complete.
#
# Environment:
#   OUT        where log and reports go                 [psci-bench-results]
#   TOLERANCE  the change of a figure that counts as none [2%]
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
    refuse "$baseline: there is no such run yet: UPDATE=1 keeps one"
fi
[ -d "$(dirname "$baseline")" ] || refuse "$(dirname "$baseline"): there is no such directory"
mkdir -p "$out" || refuse "$out: this is where the results go"
if [ "$baseline" = "$log" ] || [ "$baseline" -ef "$log" ]; then
    refuse "$baseline: this is where the log of each run goes: OUT is another directory"
fi
# What is there afterwards is this run's.
rm -f "$log" "$out/junit.xml" "$out/comparison.md" || refuse "$out: this is where the results go"
cd "$(dirname "$0")/../.."

# By QEMU's instruction clock: else the figures are the CI machine's.
code=0
$xtask qemu --icount --log "$log" "$@" >/dev/null || code=$?
[ -s "$log" ] || refuse "there is no log of a run: see above, or leave out an option that runs none"
if [ "$code" != 0 ]; then
    # The run is not passed, and the exit code says how.
    $xtask report "$log" --format junit -o "$out/junit.xml" || :
    exit "$code"
fi
if [ "${UPDATE:-}" = 1 ]; then
    $xtask report "$log" --format junit -o "$out/junit.xml"
    cp "$log" "$baseline" || refuse "$baseline: this cannot be written"
    echo "$baseline: kept" >&2
    exit 0
fi
compare() {
    $xtask compare "$baseline" "$log" --tolerance "${TOLERANCE:-2%}" --format "$1" -o "$out/$2"
}
# Each ends with what the comparison says.
compare junit junit.xml || code=$?
compare md comparison.md || code=$?
exit "$code"
