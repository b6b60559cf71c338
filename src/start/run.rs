//! Runs the payload:
//!
//! 1. [`main`] opens the UART in the parameter block, if there is one, and finds the device tree.
//! 2. [`run_with_tree`] opens the tree's console and sets the conduit, so that a later error can be
//!    printed and the machine turned off.
//! 3. It reads the board, and refuses a run without firmware, with a damaged parameter block, or
//!    with a board that is invalid or overlaps the payload.
//! 4. [`read_plan`] reads the boot arguments.
//! 5. [`setup::prepare`] sets up the machine, and [`suite::run_all`] runs the scenarios.

use core::sync::atomic::AtomicU64;

use hardware::board::{Board, Footprint, FormatError, MemorySource, TreeConsole};
use hardware::image::{BootStage, Conduit, PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE, ParameterBlock};
use hardware::spec::region::Region;
use suite::output;
use suite::plan::{Plan, is_shared};

use super::console_choice::{move_console, open_console};
use super::device_tree::{self, DeviceTree};
use super::setup::{self, Start};
use crate::machine::allocator::HEAP;
use crate::machine::boot::entries::BootState;
use crate::machine::boot::layout;
use crate::machine::boot_marks;
use crate::machine::call::conduit;
use crate::machine::console::{self, Console, print_line, print_paragraph};
use crate::machine::cpu::{instructions, registers};
use crate::machine::ending::{self, give_up, or_refuse, refuse};
use crate::machine::memory::loader_data;
use crate::machine::memory::tables::TranslationTables;

/// The [`SampleCount`](suite::measure::SampleCount) of the current scenario. xtask reads this word
/// from QEMU's memory.
#[used]
static SAMPLES: AtomicU64 = AtomicU64::new(0);

pub fn main(state: BootState) -> ! {
    let BootState {
        loader_registers,
        mut tables,
        boot_area,
        heap,
        has_firmware,
        has_trapped_write,
    } = state;
    HEAP.add(heap.into_bytes());
    let (block, damage) = parameters(&tables);
    // An HVC at EL2 would be taken to EL2 itself; an SMC always reaches the firmware.
    let early = if registers::exception_level() == 2 {
        Some(Conduit::Smc)
    } else {
        block.conduit
    };
    conduit::set_conduit(if has_firmware { early } else { None });
    if let Some(uart) = &block.uart {
        open_console(&mut tables, uart, true);
    }
    let emergency = if console::is_set() { block.uart } else { None };
    if block.marks.is_some() {
        boot_marks::enable();
    }
    boot_marks::reach(BootStage::Mmu);
    if has_trapped_write {
        boot_marks::reach(BootStage::Trapped);
    }
    let found = device_tree::find_device_tree(&mut tables, &block, loader_registers);
    if let (Err(_), Some(uart), None) = (&found, &block.uart, &emergency) {
        // This UART is the only candidate.
        open_console(&mut tables, uart, false);
    }
    match found {
        Ok(found) => {
            boot_marks::reach(BootStage::Tree);
            let entry = EntryFacts {
                block,
                damage,
                boot_area,
                has_firmware,
            };
            run_with_tree(tables, found, entry)
        }
        Err(_) if !has_firmware => end_without_firmware(),
        Err(error) => match damage {
            Some(damage) => refuse_block(&damage),
            None => refuse(&error),
        },
    }
}

/// What is known before the device tree is read.
struct EntryFacts {
    /// The valid fields of the parameter block.
    block: ParameterBlock,
    /// The reason why the block as a whole is invalid, if it is.
    damage: Option<FormatError>,
    boot_area: Region,
    /// False if the payload was entered at EL3.
    has_firmware: bool,
}

/// Ends the run of a payload that was entered at EL3, the firmware's exception level.
fn end_without_firmware() -> ! {
    give_up(&"entered at EL3, so there is no PSCI firmware to measure: load psci-bench as BL33")
}

/// Ends the run because of an invalid field in the parameter block.
fn refuse_block(damage: &FormatError) -> ! {
    refuse(&format_args!(
        "{damage}: the parameter block is damaged; rebuild the image with cargo xtask image"
    ))
}

/// Returns the valid fields of the running image's parameter block, and the reason why the block as
/// a whole is invalid, if it is. The run is refused, but a UART is needed to print that.
fn parameters(tables: &TranslationTables) -> (ParameterBlock, Option<FormatError>) {
    let region = Region {
        base: layout::image().base + PARAMETER_BLOCK as u64,
        size: PARAMETER_BLOCK_SIZE as u64,
    };
    let bytes = loader_data::find_mapped(tables, region).unwrap_or_default();
    ParameterBlock::salvage(bytes)
}

/// Prints how the console was found, and how the memory nodes were recognized if not in the usual
/// way.
fn print_choices(board: &Board<'_>, is_console_of_tree: bool) {
    if is_console_of_tree {
        print_paragraph!("Console {}, set by {}", board.uart, board.uart_by);
    }
    if board.memory_source != MemorySource::DeviceType {
        print_paragraph!("Memory nodes recognized by {}", board.memory_source);
    }
}

/// Reads the boot arguments. Ends the run if they are wrong or measure nothing, or if there is no
/// console.
fn read_plan(board: &Board<'_>, is_handed_over: bool) -> Plan {
    let is_shared = is_handed_over || is_shared(board.bootargs);
    let parsed = if is_shared {
        // Writing to the console cannot fail.
        let _ = output::print_ignored_words(&mut Console, board.bootargs);
        Plan::parse_among_foreign(board.bootargs)
    } else {
        Plan::parse(board.bootargs)
    };
    let mut plan = or_refuse(parsed, "");
    plan.complete_sleep(board.shortest_sleep_us);
    if !console::is_set() {
        // A measurement is pointless if its results cannot be printed.
        ending::perform_end_action();
    }
    ending::set_end_action(plan.end);
    if plan.lists_scenarios() {
        // Writing to the console cannot fail.
        let _ = output::print_scenario_list(&mut Console);
        give_up(&"only=help lists the scenarios and measures nothing");
    }
    plan
}

/// Opens the tree's console, unless one is open, and sets the conduit. The earlier conduit is
/// overridden even if the tree does not specify one.
fn set_up_early_console(tables: &mut TranslationTables, tree: &[u8], has_firmware: bool) {
    if let Ok(early) = TreeConsole::find(tree) {
        if let (Ok(uart), false) = (&early.uart, console::is_set()) {
            open_console(tables, uart, false);
        }
        conduit::set_conduit(match early.conduit {
            Ok(conduit) if has_firmware => Some(conduit),
            _ => None,
        });
    }
}

/// Runs the payload with a device tree.
fn run_with_tree(mut tables: TranslationTables, found: DeviceTree, entry: EntryFacts) -> ! {
    let EntryFacts {
        block,
        damage,
        boot_area,
        has_firmware,
    } = entry;
    let emergency = if console::is_set() { block.uart } else { None };
    set_up_early_console(&mut tables, found.bytes, has_firmware);
    instructions::unmask_serrors();
    let read = Board::read(found.bytes);
    // If the tree is rejected, its console might not be a UART.
    let is_of_tree = read
        .as_ref()
        .is_ok_and(|board| move_console(&mut tables, emergency, &board.uart, board.uart_by));
    let image = layout::image().base;
    print_line!("Image at {image:#x}, device tree {}", found.source);
    if let Ok(board) = &read {
        print_choices(board, is_of_tree);
    }
    if !has_firmware {
        end_without_firmware();
    }
    if let Some(damage) = damage {
        refuse_block(&damage);
    }
    let board = or_refuse(read, "device tree: ");
    conduit::set_conduit(Some(board.conduit));
    let footprint = Footprint {
        image: layout::image(),
        tree: (!found.is_handed_over).then_some(found.region),
        boot_area,
    };
    or_refuse(board.check_footprint(&footprint), "device tree: ");
    let plan = read_plan(&board, found.is_handed_over);
    boot_marks::reach(BootStage::Board);
    let (mut lead, run) = setup::prepare(
        tables,
        &board,
        &plan,
        &Start {
            build: block.build,
            digest: block.digest,
            tree: found.bytes,
            used: [found.region, boot_area],
        },
    );
    // Writing to the console cannot fail, and the closing line contains the verdict.
    let _ = suite::run_all(
        &mut lead,
        run,
        &board.idle_states,
        &mut Console,
        &HEAP,
        &SAMPLES,
    );
    lead.dismiss_all();
    ending::perform_end_action()
}
