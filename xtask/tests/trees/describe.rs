//! A board as text, to be read and compared.

use std::fmt::Write;

use psci_bench::board::{Board, Gic, Region};

use crate::verdict::labels;

/// All that is known of `board`.
pub fn describe(board: &Board<'_>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, what: String| {
        writeln!(text, "{name:<12} {what}").expect("a String takes all");
    };
    line("model", board.model.to_owned());
    let uart = &board.uart;
    line(
        "console",
        format!(
            "{:?} {:#x}+{:#x}, shift {}, width {}",
            uart.kind, uart.base, uart.size, uart.reg_shift, uart.io_width
        ),
    );
    line("conduit", format!("{:?}", board.conduit));
    match &board.gic {
        None => line("GIC", "none".to_owned()),
        Some(Gic::V2 {
            distributor,
            cpu_interface,
        }) => {
            line("GICv2", region(distributor));
            line("  GICC", region(cpu_interface));
        }
        Some(Gic::V3 {
            distributor,
            redistributors,
            stride,
        }) => {
            line("GICv3", region(distributor));
            for frames in redistributors {
                line("  GICR", region(frames));
            }
            if let Some(stride) = stride {
                line("  stride", format!("{stride:#x}"));
            }
        }
    }
    let timers = &board.timers;
    for (name, intid) in [
        ("CNTP", timers.physical),
        ("CNTV", timers.virtual_),
        ("CNTHP", timers.hypervisor),
    ] {
        if let Some(intid) = intid {
            line(name, format!("INTID {intid}"));
        }
    }
    if let Ok(frame) = board.timer_frame {
        let (control, number) = (frame.control, frame.number);
        line("timer frame", format!("{number} of {control:#x}: {frame}"));
    }
    if let Some(watchdog) = &board.watchdog {
        line("watchdog", watchdog.to_string());
    }
    for part in &board.memory {
        line("memory", region(part));
    }
    for part in &board.reserved {
        line("reserved", region(part));
    }
    for state in &board.idle_states {
        let level = state.level.map(|level| format!(", level {level}"));
        let stop = if state.local_timer_stop {
            ", local timer stops"
        } else {
            ""
        };
        let (name, level) = (state.name, level.unwrap_or_default());
        line(
            "idle state",
            format!("{:#010x} {name}{level}{stop}", state.power_state),
        );
    }
    match labels(board) {
        Ok((source, cpus)) => {
            line("labels", format!("{source:?}"));
            for cpu in cpus {
                let thread = match cpu.thread {
                    0 => String::new(),
                    thread => format!(", thread {thread}"),
                };
                let (cluster, core) = (cpu.cluster, cpu.core);
                line(
                    "CPU",
                    format!("{:#x}: cluster {cluster}, core {core}{thread}", cpu.mpidr),
                );
            }
        }
        Err(error) => line("labels", error),
    }
    line("bootargs", format!("{:?}", board.bootargs));
    text
}

fn region(region: &Region) -> String {
    format!("{:#x}+{:#x}", region.base, region.size)
}
