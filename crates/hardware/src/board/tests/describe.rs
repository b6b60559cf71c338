//! Describes the contents of a tree, one item per line, in the format that `read.rs` expects.

use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use crate::board::{
    Board, FormatError, Gic, IdleState, IdleStates, LeftOutState, Region, StateSet,
};
use crate::text::join::join;

/// Describes all data read from a tree, including the CPUs.
pub fn describe(tree: &[u8]) -> Result<Vec<String>, FormatError> {
    let board = Board::read(tree)?;
    let labels = labels(&board, false)?;
    let labels_with_mt = self::labels(&board, true).unwrap_or_else(|error| error.to_string());
    let uart = &board.uart;
    let layout = format!("shift {} width {}", uart.reg_shift, uart.io_width);
    let gic = match &board.gic {
        None => "none".into(),
        Some(Gic::V2 { .. }) => "V2".into(),
        Some(Gic::V3 { stride, .. }) => format!("V3, stride {stride:?}"),
    };
    let devices = list(&board.devices(), |(name, region)| {
        format!("{name} {}", span(region))
    });
    let its = board.its.as_ref().map_or("none".into(), span);
    let ppis = &board.timers;
    let timers = [ppis.physical, ppis.virtual_, ppis.hypervisor].map(|ppi| match ppi {
        Some(intid) => intid.to_string(),
        None => "-".into(),
    });
    let frame = match board.timer_frame {
        Ok(frame) => format!("{} of {:#x}, {frame}", frame.number, frame.control),
        Err(reason) => reason.to_string(),
    };
    let watchdog = match board.watchdog {
        Some(watchdog) => format!("{watchdog}, {:?}", watchdog.kind),
        None => "none".into(),
    };
    Ok(vec![
        format!("model: {}", board.model),
        format!("uart: {:?} {:#x} {layout}", uart.kind, uart.base),
        format!("console by: {}", board.uart_by),
        format!("GIC: {gic}"),
        format!("devices: {devices}"),
        format!("ITS: {its}"),
        format!("timers: {}", timers.join(" ")),
        format!("counter: {:?}", board.counter_frequency),
        format!("frame: {frame}"),
        format!("watchdog: {watchdog}"),
        format!("conduit: {:?}", board.conduit),
        format!("memory: {}", list(&board.memory, span)),
        format!("memory by: {}", board.memory_source),
        format!("reserved: {}", list(&board.reserved, span)),
        format!(
            "idle states: {}",
            list(&board.idle_states.usable, idle_state)
        ),
        format!("left out: {}", list(&board.idle_states.left_out, left_out)),
        format!("order: {}", order(&board.idle_states)),
        format!("bootargs: {}", board.bootargs),
        format!("cache: {:?}", board.second_level_cache),
        format!("erratum: {:?}", board.counter_erratum),
        format!("labels: {labels}"),
        format!("labels with MT: {labels_with_mt}"),
    ])
}

fn labels(board: &Board<'_>, mt: bool) -> Result<String, FormatError> {
    let (source, cpus) = board.cpus(mt)?;
    let mut text = format!("{source:?}");
    for cpu in cpus {
        text += &format!(
            " {:x}={}.{}.{}",
            cpu.mpidr, cpu.cluster, cpu.core, cpu.thread
        );
    }
    Ok(text)
}

fn list<T>(items: &[T], show: fn(&T) -> String) -> String {
    match items {
        [] => "none".into(),
        items => join(items.iter().map(show), ", "),
    }
}

fn span(region: &Region) -> String {
    format!("{:#x}+{:#x}", region.base, region.size)
}

fn idle_state(state: &IdleState<'_>) -> String {
    let level = match state.level {
        Some(level) => format!(" level {level}"),
        None => String::new(),
    };
    let stops = if state.local_timer_stop {
        " stops timers"
    } else {
        ""
    };
    let partly = if state.is_on_all_cpus { "" } else { " partly" };
    format!(
        "{} {:#x}{level}{stops}{partly}",
        state.name, state.power_state
    )
}

fn left_out(state: &LeftOutState<'_>) -> String {
    format!("{} {:?}", state.name, state.reason)
}

/// Returns each state with those that are known to be shallower.
fn order(states: &IdleStates<'_>) -> String {
    let names = |state_set: StateSet| {
        let usable = states.usable.iter().enumerate();
        let members = usable.filter(|(index, _)| state_set.contains(*index));
        join(members.map(|(_, state)| state.name), " ")
    };
    let mut all = Vec::new();
    for state in &states.usable {
        all.push(format!("{} > {}", state.name, names(state.deeper_than)));
    }
    for state in &states.left_out {
        let deeper_than = names(state.deeper_than);
        let shallower_than = names(state.shallower_than);
        all.push(format!("{} > {deeper_than} < {shallower_than}", state.name));
    }
    all.join(", ")
}
