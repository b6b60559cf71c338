//! What the payload makes of a tree, held against the facts.

use psci_bench::board::{self, Board, BoardError, Cpu, LabelSource, NoFrame, Region};
use psci_bench::image::{Conduit, UartKind};

use crate::describe::describe;
use crate::facts::{Console, Facts, Psci};
use crate::node::Tree;

/// The class of a tree of which the payload can make a board.
pub const USABLE: &str = "usable";

/// What a tree comes to: a class, or what is wrong with the payload's reading.
pub fn judge(blob: &[u8]) -> Result<String, String> {
    let facts = Facts::of(&Tree::read(blob));
    match Board::read(blob) {
        Ok(board) => {
            let wrong = differences(&board, &facts);
            if !wrong.is_empty() {
                return Err(wrong.join("; "));
            }
            Ok(USABLE.to_owned())
        }
        Err(error) => refusal(&error, &facts)
            .ok_or_else(|| format!("refused without a reason that is known: {error}")),
    }
}

/// The class of an error, if it is one that is expected and the facts agree.
fn refusal(error: &BoardError, facts: &Facts) -> Option<String> {
    let (node, message) = (&error.path, error.message.as_str());
    let value = message.split('"').nth(1).unwrap_or_default();
    let is_value = message.starts_with('"');
    let (is, class) = match error.property {
        "" if message.contains("has no PSCI") => {
            (facts.psci == Psci::None, "firmware: no PSCI".to_owned())
        }
        "compatible" if message.starts_with("PSCI 0.1") => {
            (facts.psci == Psci::Old, "firmware: PSCI 0.1".to_owned())
        }
        "" if message.contains("stdout-path") => (
            facts.console == Console::NotNamed,
            "console: the tree names none".to_owned(),
        ),
        "stdout-path" if message.starts_with("no node has the path") => (
            facts.console == Console::NoSuchNode(value.to_owned()),
            "console: the tree names a node that it has not".to_owned(),
        ),
        "status" if is_value => (
            facts.console == Console::Disabled(node.clone()),
            "console: it is disabled".to_owned(),
        ),
        "compatible" if is_value => {
            let Console::At {
                path, compatible, ..
            } = &facts.console
            else {
                return None;
            };
            (
                node.ends_with(path.rsplit('/').next()?)
                    && compatible.first().map(String::as_str) == Some(value)
                    && !compatible.iter().any(|own| model(own).is_some()),
                format!("console: no driver for {value}"),
            )
        }
        "" if message.contains("boot loaders fill") => (
            facts.memory.is_empty(),
            "memory: for the boot loader to fill in".to_owned(),
        ),
        "" if message.contains("overlaps memory at ") => {
            let base = message.split("0x").nth(1)?.split(' ').next()?;
            let base = u64::from_str_radix(base, 16).ok()?;
            (
                facts.memory.iter().any(|it| holds(*it, base)),
                "devices: in memory that is not reserved".to_owned(),
            )
        }
        "" if message == "no node /cpus" => (facts.cpus.is_empty(), "CPUs: none".to_owned()),
        "enable-method" if is_value => (
            facts.methods.iter().any(|method| method == value),
            format!("CPUs: enable-method {value}"),
        ),
        _ => return None,
    };
    is.then_some(class)
}

/// Returns true if memory of this base and size has a byte at this address.
fn holds((base, size): (u64, u64), address: u64) -> bool {
    address
        .checked_sub(base)
        .is_some_and(|offset| offset < size)
}

/// Where board and facts differ.
fn differences(board: &Board<'_>, facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, is: bool, got: &dyn std::fmt::Debug| {
        if !is {
            wrong.push(format!("{what} is {got:x?}"));
        }
    };
    check("model", board.model == facts.model, &board.model);
    check(
        "bootargs",
        board.bootargs == facts.bootargs,
        &board.bootargs,
    );
    let method = match board.conduit {
        Conduit::Smc => "smc",
        Conduit::Hvc => "hvc",
    };
    check(
        "conduit",
        facts.psci == Psci::Method(method.to_owned()),
        &board.conduit,
    );
    check(
        "console",
        console(board, &facts.console),
        &(board.uart, &facts.console),
    );
    let is_gic = match &board.gic {
        None => facts.gic.is_none(),
        Some(read) => gic(read, facts),
    };
    check("GIC", is_gic, &(&board.gic, &facts.gic));
    let timers = &board.timers;
    let ppis = [timers.physical, timers.virtual_, timers.hypervisor];
    check("timers", ppis == facts.ppis, &(timers, facts.ppis));
    // What of a frame is no use may be left, but never be another one.
    let frame = board.timer_frame.ok();
    let frame = frame.map(|f| (f.control, f.number.into(), f.base, f.intid));
    let left = matches!(board.timer_frame, Err(NoFrame::Property(_)));
    check(
        "timer frame",
        left || frame == facts.frame,
        &(&board.timer_frame, facts.frame),
    );
    let pairs = |regions: &[Region]| -> Vec<(u64, u64)> {
        regions
            .iter()
            .map(|region| (region.base, region.size))
            .collect()
    };
    let (memory, reserved) = (pairs(&board.memory), pairs(&board.reserved));
    check("memory", memory == facts.memory, &(&memory, &facts.memory));
    check(
        "reserved",
        reserved == facts.reserved,
        &(&reserved, &facts.reserved),
    );
    let mut states: Vec<(u32, bool)> = board
        .idle_states
        .iter()
        .map(|state| (state.power_state, state.local_timer_stop))
        .collect();
    states.sort_unstable();
    let expected: Vec<(u32, bool)> = facts.states.iter().map(|(p, s)| (*p, *s)).collect();
    check("idle states", states == expected, &(&states, &expected));
    check(
        "CPUs",
        cpus(board, facts),
        &(labels(board), &facts.cpus, &facts.labels),
    );
    wrong
}

fn console(board: &Board<'_>, facts: &Console) -> bool {
    let Console::At {
        compatible,
        base,
        layout: [shift, width],
        ..
    } = facts
    else {
        return false;
    };
    let uart = &board.uart;
    let laid_out = shift.is_none_or(|shift| shift == u32::from(uart.reg_shift))
        && width.is_none_or(|width| width == u32::from(uart.io_width));
    let kind = compatible.iter().find_map(|own| model(own));
    laid_out && *base == Some(uart.base) && kind == Some(uart.kind)
}

/// The kind of UART by what bindings' names have in them.
fn model(compatible: &str) -> Option<UartKind> {
    let kinds = [
        ("sbsa-uart", UartKind::Sbsa),
        ("pl011", UartKind::Pl011),
        ("xuartps", UartKind::Cadence),
        ("cdns,uart", UartKind::Cadence),
        ("imx7ulp-lpuart", UartKind::Lpuart),
        ("imx8ulp-lpuart", UartKind::Lpuart),
        ("imx8qxp-lpuart", UartKind::Lpuart),
        ("imx6q-uart", UartKind::Imx),
        ("imx21-uart", UartKind::Imx),
        ("stm32h7-uart", UartKind::Stm32),
    ];
    let families_8250 = [
        "16550",
        "8250",
        "dw-apb-uart",
        "tegra20-uart",
        "mmp-uart",
        "mt6577-uart",
        "am654-uart",
        "omap4-uart",
        "bcm2835-aux-uart",
    ];
    let named = kinds.iter().find(|(name, _)| compatible.contains(name));
    let is_8250 = families_8250.iter().any(|name| compatible.contains(name));
    named
        .map(|(_, kind)| *kind)
        .or(is_8250.then_some(UartKind::Ns16550))
}

fn gic(read: &board::Gic, facts: &Facts) -> bool {
    let Some(facts) = &facts.gic else {
        return false;
    };
    // Of a frame, as much is read as there is use for.
    let same = |read: &[(&Region, u64)]| {
        let mut pairs = read.iter().zip(&facts.regions);
        facts.regions.len() >= read.len()
            && pairs.all(|((read, most), (base, size))| {
                read.base == *base && read.size == *size.min(most)
            })
    };
    match read {
        board::Gic::V2 {
            distributor,
            cpu_interface,
        } => !facts.is_v3 && same(&[(distributor, 0x1000), (cpu_interface, 0x1000)]),
        board::Gic::V3 {
            distributor,
            redistributors,
            stride,
        } => {
            let mut all = vec![(distributor, 0x1_0000)];
            all.extend(redistributors.iter().map(|region| (region, 0x800_0000)));
            facts.is_v3
                && *stride == facts.stride
                && all.len() == facts.redistributors + 1
                && same(&all)
        }
    }
}

/// The CPUs with their labels, or why there are none.
///
/// Whether Aff0 numbers threads, a CPU tells and its tree does not; so one of
/// the two has to do.
pub fn labels(board: &Board<'_>) -> Result<(LabelSource, Vec<Cpu>), String> {
    let mut cpus = vec![Cpu::default(); board.cpu_count];
    let source = board
        .cpus(false, &mut cpus)
        .or_else(|_| board.cpus(true, &mut cpus));
    Ok((source.map_err(|error| error.to_string())?, cpus))
}

/// Whether the tree `other` says the same as `one`, but for its boot
/// arguments, which are `args`.
pub fn same(one: &[u8], other: &[u8], args: &str) -> Result<(), String> {
    let read = |blob| Board::read(blob).map_err(|error| error.to_string());
    let (one, other) = (read(one)?, read(other)?);
    if other.bootargs != args {
        return Err(format!("its boot arguments are {:?}", other.bootargs));
    }
    let without = |board: &Board<'_>| {
        let text = describe(board);
        text.rsplit_once("bootargs")
            .map(|(text, _)| text.to_owned())
    };
    if without(&one) != without(&other) {
        return Err("other boot arguments make it another board".to_owned());
    }
    Ok(())
}

fn cpus(board: &Board<'_>, facts: &Facts) -> bool {
    let Ok((source, cpus)) = labels(board) else {
        return false;
    };
    let mpidrs: Vec<u64> = cpus.iter().map(|cpu| cpu.mpidr).collect();
    let by_map = match &facts.labels {
        Some(expected) => {
            let label = |cpu: &Cpu| (cpu.mpidr, cpu.cluster, cpu.core, cpu.thread);
            let labels: Vec<_> = cpus.iter().map(label).collect();
            source == LabelSource::CpuMap && labels == *expected
        }
        None => source == LabelSource::Mpidr,
    };
    by_map && mpidrs == facts.cpus && facts.methods.is_empty()
}
