"""psci-bench on qemu, firmware strict, by labgrid.

pytest --lg-env env.yaml --junit-xml results/junit.xml

The UART's output is kept in results/uart.log, for cargo xtask report.
"""

import os
import re
import select
import threading
import time

import pexpect
import pytest
from labgrid.exceptions import NoDriverFoundError

# The time limit for the run, in seconds.
LIMIT = 600
# The scenarios of TF-A's suite that this job runs, by tag.
SCENARIOS = {
    "test_rt_instr_susp_deep_parallel": "Suspend to deepest power level on all cores in parallel",
    "test_rt_instr_susp_deep_serial": "Suspend to deepest power level on all cores in sequence",
    "test_rt_instr_cpu_susp_parallel": "CPU suspend on all cores in parallel",
    "test_rt_instr_cpu_susp_serial": "CPU suspend on all cores in sequence",
    "test_rt_instr_cpu_off_serial": "CPU off on all non-lead cores in sequence and suspend lead to deepest power level",
    "test_rt_instr_psci_version_parallel": "PSCI version call on all cores in parallel",
}

HERE = os.path.dirname(os.path.abspath(__file__))
# The folder that the log is written to.
RESULTS = os.environ.get("PSCI_BENCH_RESULTS", os.path.join(HERE, "results"))
LAST_LINE = re.compile(rb"psci-bench: (PASS|FAIL|INCOMPLETE)[^\r\n]*[\r\n]")
CASE = re.compile(
    r"> Executing '(?P<name>[^'\r\n]+)'(?P<rows>.*?)  TEST COMPLETE\s+"
    r"(?P<result>Skipped|Passed|Failed|Crashed)",
    re.DOTALL,
)
ROW = re.compile(r"<RT_INSTR:(?P<tag>\w+)\t(?P<cluster>\d+)\t(?P<core>\d+)\t(?P<figures>[\d\t]+)/>")
METRICS = {1: ["latency"], 3: ["powerdown", "wakeup", "cache_flush"]}


def read_qemu(console, keep, ended):
    """Reads QEMU's serial port until `ended` is set.

    QEMU's monitor does not answer while the port's buffer is full, and labgrid
    does not read the port while it waits for the answer: both would wait forever.
    Only QEMU's console has this socket.
    """
    while not ended.wait(0.01):
        port = getattr(console, "_clientsocket", None)
        try:
            if port is None or not select.select([port], [], [], 0.1)[0]:
                continue
            piece = port.recv(4096)
        except (OSError, ValueError):
            return  # labgrid has closed it
        if not piece:
            return
        keep(piece)


def in_background(console, keep):
    """Starts `read_qemu`: returns its thread, and the event that ends it."""
    ended = threading.Event()
    thread = threading.Thread(target=read_qemu, args=(console, keep, ended), daemon=True)
    thread.start()
    return thread, ended


def switch_on(target, console, keep):
    """Resets the board, if labgrid can switch its power."""
    try:
        power = target.get_driver("PowerProtocol")
    except NoDriverFoundError:
        return  # the board is started by hand
    thread, ended = in_background(console, keep)
    try:
        power.off()
        power.on()
    finally:
        ended.set()
        thread.join()


def read_to_last_line(console, said, keep):
    deadline = time.monotonic() + LIMIT
    while not LAST_LINE.search(said, max(0, len(said) - 4096)):
        left = deadline - time.monotonic()
        if left <= 0:
            pytest.fail(f"no last line within {LIMIT} s; the board printed {bytes(said[-200:])!r}")
        try:
            keep(console.read(timeout=min(left, 1.0)))
        except pexpect.TIMEOUT:
            continue
        except pexpect.EOF:
            pytest.fail(f"the serial port closed; the board printed {bytes(said[-200:])!r}")


@pytest.fixture(scope="session")
def uart(target):
    """Returns everything that the board prints from its reset to its last line."""
    os.makedirs(RESULTS, exist_ok=True)
    console = target.get_driver("ConsoleProtocol")
    said = bytearray()
    with open(os.path.join(RESULTS, "uart.log"), "wb") as log:

        def keep(piece):
            log.write(piece)
            log.flush()
            said.extend(piece)

        switch_on(target, console, keep)
        try:
            read_to_last_line(console, said, keep)
        finally:
            # Keeps reading until labgrid has stopped QEMU.
            in_background(console, lambda piece: None)
    return said.decode("ascii", "replace")


@pytest.mark.parametrize("tag", SCENARIOS)
def test_scenario(uart, tag, record_property):
    cases = [case for case in CASE.finditer(uart) if case["name"] == SCENARIOS[tag]]
    assert len(cases) == 1, f"'{SCENARIOS[tag]}' appears {len(cases)} times"
    for row in ROW.finditer(cases[0]["rows"]):
        assert row["tag"] == tag
        figures = row["figures"].split("\t")
        for metric, figure in zip(METRICS[len(figures)], figures):
            record_property(f"{row['cluster']}.{row['core']} {metric} ns", figure)
    if cases[0]["result"] == "Skipped":
        pytest.skip("the payload skipped it; uart.log has the reason")
    assert cases[0]["result"] == "Passed"


def test_end(uart):
    assert "Exiting tests." in uart


def test_verdict(uart):
    assert "psci-bench: PASS" in uart


def test_nothing_is_skipped(uart):
    counts = re.search(r"psci-bench: [^\r\n]* (\d+) skipped, [^\r\n]* (\d+) rows? skipped, ", uart)
    assert counts, "the last line does not count skipped scenarios and rows"
    skipped = re.findall(r"(?m)^Skipped: [^\r\n]*", uart)
    assert counts.groups() == ("0", "0"), "\n".join(skipped)
