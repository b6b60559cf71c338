//! TF-A with a secure payload (BL32) at S-EL1.

use hardware::board::Mpidr;
use runner::qemu::run_spec::RunSpec;
use suite::measure::Metric;
use suite::plan::{ScenarioId, Variant};

use crate::common::{self, Log, spec};

/// `movz x0, #0xbe00, lsl #16`: the base of the functions by which BL32 returns to its dispatcher.
const BASE: u32 = 0xd2b7_c000;
/// `movk x0, #0`: the number of such a function, which is added at bit 5.
const NUMBER: u32 = 0xf280_0000;
/// `mov x1, #0`: the result.
const SUCCESS: u32 = 0xd280_0001;
/// `smc #0`
const SMC: u32 = 0xd400_0003;
/// `b .`
const LOOP: u32 = 0x1400_0000;
/// `adr x1, .+16`: the address of the table that follows the entry code.
const TABLE: u32 = 0x1000_0081;

/// The function that ends each entry in the table: yielding call, fast call, CPU_ON, CPU_OFF,
/// resume, suspend, secure interrupt, SYSTEM_OFF, SYSTEM_RESET.
const ENDINGS: [u32; 9] = [5, 5, 1, 2, 4, 3, 6, 7, 8];

/// Returns the smallest secure payload: it accepts each event and returns at once.
fn smallest() -> Vec<u8> {
    let handler = |number: u32| [BASE, NUMBER | number << 5, SUCCESS, SMC];
    let mut code = vec![TABLE, BASE, SMC, LOOP];
    let handler_words = handler(0).len() as u32;
    let entries = ENDINGS.len() as u32;
    code.extend((0..entries).map(|entry| LOOP | (entries - entry + entry * handler_words)));
    code.extend(ENDINGS.into_iter().flat_map(handler));
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A function of the secure payload, which BL32 is entered for, and one that no service implements.
const CALLS: [u32; 2] = [0xbf00_0000, 0x8600_0000];

/// Returns the time that calls to [`CALLS`] hold back an interrupt on the last CPU, in ticks.
fn masked(log: &Log) -> [u64; 2] {
    CALLS.map(|function| {
        let (_, of_cell) = log
            .of_metric(ScenarioId::named("masked_time"), Metric::Masked)
            .find(|(mpidr, cell_series)| {
                let step = cell_series.cell.step;
                *mpidr == Mpidr::new(2)
                    && step.variant == Variant::new("call")
                    && step.value == Some(function.into())
            })
            .expect("a figure");
        of_cell.series.summary.median
    })
}

#[test]
fn a_call_to_the_secure_payload_takes_longer() {
    let [entered, unknown] = CALLS;
    let args = format!("only=masked_time iterations=2 calls={entered:#x},{unknown:#x}");
    let without = spec("--smp 3 --icount", &args);
    let with = RunSpec {
        bl32: Some(smallest()),
        ..without.clone()
    };
    let [plain, secure] = [without, with].map(|spec| masked(&common::expect_pass(&spec)));
    assert!(secure[0] > 2 * secure[1], "{secure:?}");
    assert!(plain[0].abs_diff(plain[1]) < 50, "{plain:?}");
}

#[test]
fn cpus_power_down_with_a_secure_payload() {
    for options in ["--smp 6 --icount", "--smp 8 --gic 2 --el 1 --icount"] {
        common::expect_pass(&RunSpec {
            bl32: Some(smallest()),
            ..spec(options, "iterations=3")
        });
    }
}
