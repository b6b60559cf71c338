//! From the entry code to the scenarios: who am I, where is the console,
//! where is the device tree, what does it say, is there memory enough.

#![forbid(unsafe_code)]

mod setup;
mod tree;

use psci_bench::board::{Board, Console as TreeConsole, Region, Uart};
use psci_bench::image::ParameterBlock;
use psci_bench::output;
use psci_bench::plan::Plan;

use crate::machine::boot::{self, Entry};
use crate::machine::console::{self, Console, say};
use crate::machine::mmu::Tables;
use crate::machine::panic::{self, Ended};
use crate::machine::{cpu, loaded};

/// The whole run.
pub fn main(entry: Entry) -> ! {
    let Entry {
        registers,
        mut tables,
        area,
        has_firmware,
    } = entry;
    let block = parameters(&tables);
    panic::set_conduit(block.conduit.filter(|_| has_firmware));
    if let Some(emergency) = &block.uart {
        open_console(&mut tables, &Uart::from(emergency));
    }
    match tree::find(&mut tables, &block, registers) {
        Ok(found) => with_tree(tables, found, area, has_firmware),
        Err(_) if !has_firmware => end_without_firmware(),
        Err(error) => panic::end(&Ended::BadInput(&error)),
    }
}

/// Ends a run that was begun where firmware has its place.
fn end_without_firmware() -> ! {
    panic::end(&Ended::Machine(
        &"entered at EL3, so there is no PSCI firmware to measure: load psci-bench as BL33",
    ))
}

/// The parameter block of the running image.
fn parameters(tables: &Tables) -> ParameterBlock {
    let head = Region {
        size: 0x80,
        ..boot::image()
    };
    let bytes = loaded::mapped(tables, head).unwrap_or_default();
    // A block that is not understood is as good as none: the tree, if there
    // is one at X0, can still be used.
    ParameterBlock::read(bytes).unwrap_or_default()
}

/// Makes a UART the console, if its registers can be mapped.
fn open_console(tables: &mut Tables, uart: &Uart) {
    if uart.is_aligned() {
        // Without a console there is nobody to tell.
        let _ = console::set(tables, uart);
    }
}

/// Goes on with a device tree in hand.
fn with_tree(mut tables: Tables, found: tree::Found, boot_area: Region, has_firmware: bool) -> ! {
    // The console and the conduit first, so that whatever is wrong with the
    // rest can be said, and the machine turned off. What the tree says of the
    // firmware wins, also that there is none to call.
    if let Ok(early) = TreeConsole::find(found.bytes) {
        if let Ok(uart) = &early.uart {
            open_console(&mut tables, uart);
        }
        panic::set_conduit(early.conduit.ok().filter(|_| has_firmware));
    }
    cpu::unmask_serrors();
    say!(
        "Image at {:#x}, device tree {}",
        boot::image().base,
        found.source
    );
    if !has_firmware {
        end_without_firmware();
    }
    let board = match Board::read(found.bytes) {
        Ok(board) => board,
        Err(error) => panic::end(&Ended::BadInput(&format_args!(
            "device tree {}: {error}",
            found.source
        ))),
    };
    panic::set_conduit(Some(board.conduit));
    let plan = match Plan::parse(board.bootargs) {
        Ok(plan) => plan,
        Err(error) => panic::end(&Ended::BadInput(&error)),
    };
    if !console::is_set() {
        // Measuring without a way to say what came of it makes no sense.
        panic::end_silently();
    }
    panic::set_end(plan.end);
    if plan.list {
        // The console never fails.
        let _ = output::list(&mut Console);
        panic::end(&Ended::Machine(
            &"only=help lists the scenarios and measures nothing",
        ));
    }
    let ready = setup::prepare(tables, &board, &plan, [found.region, boot_area]);
    let verdict = ready.run(&board, &plan, &mut Console);
    // The closing line has been printed; the verdict is in it.
    let _ = verdict;
    panic::finish()
}
