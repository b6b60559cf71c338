//! An environment for labgrid, and the tests that pytest runs in it.

use psci_bench::plan::{Method, Plan};

use super::engine::Names;
use super::qemu::Machine;
use super::yaml::quoted;

/// Which of labgrid's drivers reach the board.
pub(super) enum Way<'w> {
    /// labgrid starts QEMU.
    Qemu(&'w Machine),
    /// The board is a place of a coordinator's.
    Place(&'w str),
}

/// The environment.
pub(super) fn environment(names: &Names, way: &Way<'_>) -> String {
    let Names {
        board, firmware, ..
    } = names;
    let head =
        format!("# psci-bench on {board}, firmware {firmware}: an environment for labgrid.\n");
    match way {
        Way::Qemu(machine) => head + &qemu(machine),
        Way::Place(place) => head + &self::place(place),
    }
}

fn qemu(machine: &Machine) -> String {
    let mut extra = machine.options.join(" ");
    let mut images = String::new();
    let mut bios = String::new();
    for image in &machine.images {
        match image.argument.split_once(" {") {
            Some((option, _)) => {
                let key = option.trim_start_matches('-');
                bios.push_str(&format!("        {key}: {}\n", image.label));
                images.push_str(&format!("  {}: {}\n", image.label, image.file));
            }
            // The driver has no word for it, and starts where pytest does.
            None => {
                let label = format!("{{{}}}", image.label);
                extra.push_str(&format!(" {}", image.argument.replace(&label, image.file)));
            }
        }
    }
    format!(
        "# Paths are relative to this file.\n\
         targets:\n  main:\n    drivers:\n      QEMUDriver:\n        qemu_bin: qemu\n        \
         machine: {}\n        cpu: {}\n        memory: {}\n        extra_args: {}\n{bios}        \
         display: none\n        nic: none\n\
         tools:\n  qemu: {}\nimages:\n{images}",
        quoted(&machine.machine),
        quoted(&machine.cpu),
        quoted(&format!("{}M", machine.memory_mib)),
        quoted(&extra),
        crate::qemu::PROGRAM,
    )
}

fn place(place: &str) -> String {
    format!(
        "#\n\
         # To change for your lab: the place, which your coordinator has (cargo xtask lab\n\
         # --place), and what switches the board's power: without a driver for that the\n\
         # tests wait for a board that somebody resets, or that starts when its serial\n\
         # port is opened. Firmware and payload have to be on the board before.\n\
         targets:\n  main:\n    resources:\n      RemotePlace:\n        name: {}\n    \
         drivers:\n      SerialDriver: {{}}\n      \
         # One of these, as the exporter has the board's power:\n      \
         # NetworkPowerDriver: {{}}\n      # PDUDaemonDriver: {{}}\n      \
         # ManualPowerDriver: {{name: the board}}   # asks: use pytest -s\n",
        quoted(place),
    )
}

/// What pytest has to know besides.
pub(super) const SETTINGS: &str = "\
[pytest]
# The figures are properties of test cases, which this form of JUnit's XML has.
junit_family = xunit1
addopts = -p no:cacheprovider
";

/// The tests.
pub(super) fn tests(names: &Names, plan: &Plan, seconds: u64) -> String {
    let Names {
        board, firmware, ..
    } = names;
    let framed = plan.methods.iter().any(|method| method == Method::Tftf);
    let cases: String = plan
        .scenarios
        .suite()
        .iter()
        .filter(|_| framed)
        .map(|scenario| format!("    \"{}\": \"{}\",\n", scenario.tag(), scenario.name()))
        .collect();
    format!(
        "\"\"\"psci-bench on {board}, firmware {firmware}, by labgrid.\n\n\
         pytest --lg-env env.yaml --junit-xml results/junit.xml\n\n\
         The UART's output is kept in results/uart.log, for cargo xtask report --matrix.\n\
         \"\"\"\n\n{IMPORTS}\n\
         # How long the board may take, in seconds.\nLIMIT = {seconds}\n\
         # The scenarios of TF-A's suite that are run, by tag.\nSCENARIOS = {{\n{cases}}}\n\n{BODY}"
    )
}

const IMPORTS: &str = "\
import os
import re
import time

import pexpect
import pytest
from labgrid.exceptions import NoDriverFoundError
";

/// What does not depend on what is run.
const BODY: &str = r#"HERE = os.path.dirname(os.path.abspath(__file__))
# Where the log goes.
RESULTS = os.environ.get("PSCI_BENCH_RESULTS", os.path.join(HERE, "results"))
LAST_LINE = re.compile(rb"psci-bench: (PASS|FAIL|INCOMPLETE)[^\r\n]*[\r\n]")
CASE = re.compile(
    r"> Executing '(?P<name>[^'\r\n]+)'(?P<rows>.*?)  TEST COMPLETE\s+"
    r"(?P<result>Skipped|Passed|Failed|Crashed)",
    re.DOTALL,
)
ROW = re.compile(r"<RT_INSTR:(?P<tag>\w+)\t(?P<cluster>\d+)\t(?P<core>\d+)\t(?P<figures>[\d\t]+)/>")
METRICS = {1: ["latency"], 3: ["powerdown", "wakeup", "cache_flush"]}


@pytest.fixture(scope="session")
def uart(target):
    """All that the board says from its reset to its last line."""
    os.makedirs(RESULTS, exist_ok=True)
    console = target.get_driver("ConsoleProtocol")
    try:
        power = target.get_driver("PowerProtocol")
    except NoDriverFoundError:
        power = None  # somebody else starts the board
    if power is not None:
        power.off()
        power.on()
    said = bytearray()
    deadline = time.monotonic() + LIMIT
    with open(os.path.join(RESULTS, "uart.log"), "wb") as log:
        while not LAST_LINE.search(said, max(0, len(said) - 4096)):
            left = deadline - time.monotonic()
            if left <= 0:
                pytest.fail(f"no last line within {LIMIT} s; the board said {bytes(said[-200:])!r}")
            try:
                piece = console.read(timeout=min(left, 1.0))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                pytest.fail(f"the serial port closed; the board said {bytes(said[-200:])!r}")
            log.write(piece)
            log.flush()
            said += piece
    return said.decode("ascii", "replace")


@pytest.mark.parametrize("tag", SCENARIOS)
def test_scenario(uart, tag, record_property):
    cases = [case for case in CASE.finditer(uart) if case["name"] == SCENARIOS[tag]]
    assert len(cases) == 1, f"'{SCENARIOS[tag]}' is there {len(cases)} times"
    for row in ROW.finditer(cases[0]["rows"]):
        assert row["tag"] == tag
        figures = row["figures"].split("\t")
        for metric, figure in zip(METRICS[len(figures)], figures):
            record_property(f"{row['cluster']}.{row['core']} {metric} ns", figure)
    if cases[0]["result"] == "Skipped":
        pytest.skip("the payload skipped it, and says why in uart.log")
    assert cases[0]["result"] == "Passed"


def test_end(uart):
    assert "Exiting tests." in uart


def test_verdict(uart):
    assert "psci-bench: PASS" in uart
"#;

/// The test that fails where something is skipped: by the counts of the last line.
pub(super) const DENY_SKIPPED: &str = r#"

def test_nothing_is_skipped(uart):
    counts = re.search(r"psci-bench: [^\r\n]* (\d+) skipped, [^\r\n]* (\d+) rows skipped, ", uart)
    assert counts, "the last line does not count what was skipped"
    skipped = re.findall(r"(?m)^Skipped: [^\r\n]*", uart)
    assert counts.groups() == ("0", "0"), "\n".join(skipped)
"#;
