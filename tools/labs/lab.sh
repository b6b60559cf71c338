#!/bin/sh
# On this host, runs all the jobs that `cargo xtask lab` has written below DIR,
# several at a time, and reports on each.
#
#   tools/labs/lab.sh DIR
#
# Cells are found at any depth and through links, but not in folders whose names
# begin with a dot. A job is run only once: if one has a results folder, nothing is
# run. Its report is results/report.txt, and a line on stderr says whether it passed,
# and if not, why.
#
# Exit codes: 0: all passed. 1: a job, a test case or a verdict did not pass.
# 2: bad usage, or something cannot be run. 3: a log is missing or incomplete.
# results/exit-code has the code of a job.
#
# Environment:
#   LAVA_RUN  lava-run from the LAVA dispatcher  [lava-run]
#   PYTEST    a pytest with the labgrid plugin   [pytest]
#   JOBS      number of jobs to run at a time   [4]
#   GRACE     seconds by which an engine may exceed its job's time limit
#             before it is stopped               [300]
#   XTASK     the host tool, by absolute path    [cargo xtask]
set -eu

say() {
    printf '%s\n' "$1" >&2
}
refuse() {
    say "$1"
    exit 2
}

# Rejects a program that does not exist, and names the variable that selects it.
check_program() {
    command -v "$2" >/dev/null || refuse "$2 is not installed; set $1 to another program"
}

# Prints the engine of the job in this folder.
engine() {
    sed -n 's/.*"engine": *"\([a-z]*\)".*/\1/p' manifest.json
}

# Runs the host tool, whose arguments are absolute paths.
xtask() {
    if [ -n "${XTASK:-}" ]; then
        $XTASK "$@"
    else
        (cd "$(dirname "$0")/../.." && cargo run --quiet --package xtask -- "$@")
    fi
}

# Prints the number of test cases in LAVA's log, apart from LAVA's own steps.
cases_in_lava() {
    grep '"lvl": "results"' results/lava.log | grep -cv '"definition": "lava"'
}

# Prints the results in LAVA's log that are neither `pass` nor `skip`. Of LAVA's own
# steps, only the job itself counts.
bad_in_lava() {
    sed -n '/"lvl": "results"/!d
        /"definition": "lava"/{
            /"case": "job"/!d
        }
        /"result": "pass"/d
        /"result": "skip"/d
        s/.*"case": "\([^"]*\)".*"error_msg": "\([^"]*\)".*/\1 not passed: \2/p
        t
        s/.*"case": "\([^"]*\)".*/\1 not passed/p
        t
        p' results/lava.log
}

# Prints the tests that failed according to pytest, with their reasons.
bad_in_pytest() {
    sed -n 's/^FAILED //p; s/^ERROR //p' results/pytest.out
}

# Runs an engine, and ends it if it exceeds the time limit or this script is interrupted.
run_engine() {
    timeout -k 30 "$limit" "$@" &
    pid=$!
    trap 'kill "$pid"; exit 130' INT TERM
    wait "$pid"
}

# Rejects a job that cannot be run.
if [ "${1:-}" = --check ]; then
    cd "$2"
    case $(engine) in
    lava)
        [ -f job.yaml ] || refuse "$2: there is no job.yaml; write the job again"
        check_program LAVA_RUN ${LAVA_RUN:-lava-run}
        ;;
    labgrid) check_program PYTEST ${PYTEST:-pytest} ;;
    *) refuse "$2: manifest.json names neither lava nor labgrid as its engine" ;;
    esac
    if [ -e results ]; then
        refuse "$2/results already exists; move or remove it"
    fi
    # A copied job would use the original's files. If the folder's path may need
    # quotes in YAML, only the job's name is checked, because it needs no quotes.
    case $2 in
    *[!A-Za-z0-9_/.+-]*) own=/$(basename "$2")/ ;;
    *) own=file://$2/ ;;
    esac
    if [ -f job.yaml ] && grep -F file:// job.yaml | grep -qvF "$own"; then
        refuse "$2: this job uses the files of another folder; write the job again"
    fi
    exit 0
fi

# Runs one job, reports on it, and keeps its exit code. Ends with 255, which stops
# xargs, if there can be no report.
if [ "${1:-}" = --job ]; then
    cd "$2"
    mkdir results
    # Engines end a job when its time is up, but may hang in the process.
    minutes=$(sed -n 's/^ *"minutes": *\([0-9]*\).*/\1/p' manifest.json)
    limit=$((${minutes:-60} * 60 + ${GRACE:-300}))
    bad= cases=1 deny=
    if grep -q '"deny_skipped": true' manifest.json; then
        deny=--deny-skipped
    fi
    if [ "$(engine)" = lava ]; then
        log=$2/results/lava.log
        run_engine ${LAVA_RUN:-lava-run} --job-id "$$" --output-dir results/lava \
            --device device.yaml job.yaml >"$log" 2>&1 ||
            bad="lava-run ended with exit code $?"
        found=$(bad_in_lava)
        cases=$(cases_in_lava) || true
    else
        log=$2/results/uart.log
        # In CI, pytest does not shorten the reasons.
        export CI=true
        run_engine ${PYTEST:-pytest} --lg-env env.yaml \
            --junit-xml results/junit.xml >results/pytest.out 2>&1 ||
            bad="pytest ended with exit code $?"
        found=$(bad_in_pytest)
    fi
    code=0
    xtask report $deny "$log" >results/report.txt 2>results/report.err || code=$?
    case $code in
    0 | 1 | 3) ;;
    2) code=3 ;; # no run in the log, or no log
    *)
        say "$2: no report (exit code $code); see $2/results/report.err"
        exit 255
        ;;
    esac
    # A verdict is a result, which the report shows without failing.
    verdicts=$(sed -n '/^  Verdict  *psci-bench: PASS /d; s/^  Verdict  *//p' results/report.txt)
    if [ "$code" = 0 ] && ! grep -q '^  Verdict ' results/report.txt; then
        verdicts='the report has no verdict'
    fi
    if [ "$code" = 0 ] && [ -n "$bad$found$verdicts" ]; then
        code=1
    fi
    if [ "$code" = 0 ] && [ "$cases" = 0 ]; then
        code=3 bad='LAVA has no test results'
    fi
    echo "$code" >results/exit-code
    case $code in
    0) outcome=passed ;;
    1) outcome=failed ;;
    *) outcome=incomplete ;;
    esac
    # The first few are enough: the rest are in the engine's results and in the report.
    reasons=$({
        printf '%s\n' "$bad" "$verdicts"
        printf '%s\n' "$found" | head -n 3
        head -n 3 results/report.err
    } | sed '/^$/d' | sed '$!s/$/;/' | paste -sd ' ' -)
    say "$2: $outcome${reasons:+: $reasons}"
    exit 0
fi

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    refuse "usage: $0 DIR"
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
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

# Prints the jobs, each terminated by a NUL byte, because a path may contain any
# other byte. Folders with results are not searched.
job_folders() {
    (cd "$dir" && find -L . -type d \( -name '.?*' -o -name results \
        -exec sh -c 'test -e "${1%/*}/manifest.json"' sh '{}' ';' \) -prune -o \
        -type d -exec test -e '{}/manifest.json' ';' \
        -exec sh -c 'cd -P "$1" && printf "%s\0" "$PWD"' sh '{}' ';') | LC_ALL=C sort -zu
}
if [ "$(job_folders | tr -cd '\0' | wc -c)" -eq 0 ]; then
    refuse "$dir: no jobs found; create one with cargo xtask lab lava -o $dir"
fi
job_folders | xargs -0 -n 1 "$self" --check || exit 2
# The host tool is built before any job runs.
(cd "$dir" && xtask report --help >/dev/null) ||
    refuse "the host tool (XTASK) does not run, so there can be no reports"
job_folders | xargs -0 -n 1 -P "$jobs" "$self" --job || exit 2
# A job without an exit code was not run to its end.
code=$(job_folders | xargs -0 -n 1 sh -c 'cat "$1/results/exit-code" || echo 3' sh |
    sort -n | tail -n 1)
exit "$code"
