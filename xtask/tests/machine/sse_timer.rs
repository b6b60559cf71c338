//! Tests the timer frame driver against an independent device: the Arm SSE-300 timer in QEMU's
//! `mps3-an547`, an M-profile machine. This timer has the CNTBaseN registers (Arm 101773,
//! "Timestamp-based timer"), which no AArch64 machine in QEMU has.
//!
//! The machine runs no program, and its clock is stopped. QEMU performs individual accesses
//! requested over its qtest protocol, and the count advances only when it is written. The machine
//! does not have CNTCTLBase.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hardware::devices::timer_frame::{self as frame, CNTP_CTL};
use hardware::devices::{Bus, Width};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

/// The CNTCR and CNTCV registers in the secure control frame of the system counter.
const CNTCR: u64 = 0x5810_0000;
const CNTCV: u64 = CNTCR + 0x8;
/// Timer 0.
const TIMER: u64 = 0x4800_0000;
/// CNTP_CTL.ISTATUS.
const ISTATUS: u32 = 1 << 2;
/// Controls which devices allow Non-secure accesses. Bit 0 is for timer 0.
const PERIPHNSPPC0: u64 = 0x5008_0070;

/// The machine, which is killed on drop.
struct Machine {
    qemu: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Machine {
    fn start() -> Self {
        let workspace = Workspace::find().expect("the workspace");
        setup::ensure(&workspace, &[Need::Qemu]).expect("QEMU");
        let mut qemu = Command::new("qemu-system-arm")
            .args(["-machine", "mps3-an547", "-accel", "tcg", "-S"])
            .args(["-display", "none", "-nodefaults", "-qtest", "stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("qemu-system-arm, from the package that contains qemu-system-aarch64");
        let input = qemu.stdin.take().expect("its input");
        let output = BufReader::new(qemu.stdout.take().expect("its output"));
        Self {
            qemu,
            input,
            output,
        }
    }

    /// Executes a command and returns the result.
    fn command(&mut self, command: &str) -> String {
        writeln!(self.input, "{command}").expect("QEMU listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("QEMU answers");
        let answer = line.strip_prefix("OK").expect("QEMU executes it");
        answer.trim().to_owned()
    }

    fn write(&mut self, address: u64, value: u32) {
        self.command(&format!("writel {address:#x} {value:#x}"));
    }

    /// Advances the counter to `count`.
    fn set_count(&mut self, count: u64) {
        self.write(CNTCR, 0);
        self.write(CNTCV, count as u32);
        self.write(CNTCV + 4, (count >> 32) as u32);
        self.write(CNTCR, 1);
    }

    fn is_raised(&mut self) -> bool {
        self.read(CNTP_CTL.offset().into(), Width::Word) & ISTATUS != 0
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.qemu.kill().expect("QEMU was running");
        self.qemu.wait().expect("QEMU ended");
    }
}

/// Accesses to the timer's registers.
impl Bus for Machine {
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        assert_eq!(width, Width::Word);
        let read = self.command(&format!("readl {:#x}", TIMER + offset));
        let digits = read.strip_prefix("0x").expect("a number");
        u64::from_str_radix(digits, 16).expect("a number") as u32
    }

    fn write(&mut self, offset: u64, width: Width, value: u32) {
        assert_eq!(width, Width::Word);
        Machine::write(self, TIMER + offset, value);
    }
}

/// CNTCTLBase with all bits set, so every frame exists and every access is allowed.
struct Control;

impl Bus for Control {
    fn read(&mut self, _: u64, _: Width) -> u32 {
        u32::MAX
    }

    fn write(&mut self, _: u64, _: Width, _: u32) {}
}

#[test]
fn the_driver_and_a_device_agree() {
    let mut timer = Machine::start();
    Machine::write(&mut timer, PERIPHNSPPC0, 1);
    assert_eq!(frame::open(&mut Control, &mut timer, 0), Ok(()));

    let carry = u64::from(u32::MAX) + 1;
    for start in [0x1_0000, carry - 20, carry - 2, carry, 0x7_ffff_fffb] {
        timer.set_count(start);
        assert_eq!(frame::count(&mut timer), start);

        // The timer fires exactly at the deadline and stays asserted until it is canceled.
        frame::arm(&mut timer, start + 20);
        for (later, raised) in [(0, false), (19, false), (20, true), (1000, true)] {
            timer.set_count(start + later);
            assert_eq!(frame::count(&mut timer), start + later);
            assert_eq!(timer.is_raised(), raised, "{start:#x} + {later}");
        }
        frame::disarm(&mut timer);
        assert!(!timer.is_raised(), "{start:#x}");

        // A deadline in the past fires immediately.
        frame::arm(&mut timer, start);
        assert!(timer.is_raised(), "{start:#x}");
        frame::disarm(&mut timer);
    }
}
