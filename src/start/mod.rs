//! From the entry code to the scenarios: who am I, where is the console,
//! where is the device tree, what does it say, is there memory enough.

mod setup;
mod tree;

use psci_bench::board::{Board, Console as TreeConsole, Region, Uart};
use psci_bench::image::ParameterBlock;
use psci_bench::output;
use psci_bench::plan::Plan;

use crate::machine::console::{self, Console, say};
use crate::machine::mmu::{Kind, Tables};
use crate::machine::panic::{self, Ended};
use crate::machine::{boot, cpu, memory};

/// Comes from `boot.S`, on the boot stack, with MMU and caches on: the
/// loader's X0 to X3, the next free translation table, 1 where the control
/// registers have EL1's layout, where the boot area begins, and 1 where the
/// loader entered at EL3.
pub extern "C" fn boot_main(
    x0: u64,
    x1: u64,
    x2: u64,
    x3: u64,
    next_table: u64,
    layout: u64,
    boot_area: u64,
    left_el3: u64,
) -> ! {
    let boot_area = Region {
        base: boot_area,
        size: boot::BOOT_AREA,
    };
    let mut tables = Tables::new(next_table, boot_area.base + boot_area.size, layout != 0);
    let block = parameters();
    let has_firmware = left_el3 == 0;
    panic::set_conduit(block.conduit.filter(|_| has_firmware));
    if let Some(emergency) = &block.uart {
        open_console(&mut tables, &Uart::from(emergency));
    }
    if cpu::e2h_is_stuck() {
        panic::end(&Ended::Machine(
            &"HCR_EL2.E2H stays 1: psci-bench needs an EL2 without VHE",
        ));
    }
    match tree::find(&mut tables, &block, [x0, x1, x2, x3]) {
        Ok(found) => with_tree(tables, found, boot_area, has_firmware),
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
fn parameters() -> ParameterBlock {
    let image = Region {
        base: boot::image_start(),
        size: boot::image_end() - boot::image_start(),
    };
    let head = Region {
        size: 0x80,
        ..image
    };
    // SAFETY: the image's first 128 bytes are mapped read-only by boot.S, and
    // nothing writes to them.
    let bytes = unsafe { memory::bytes(head) };
    // A block that is not understood is as good as none: the tree, if there
    // is one at X0, can still be used.
    ParameterBlock::read(bytes).unwrap_or_default()
}

/// Makes a UART the console, if its registers can be mapped.
fn open_console(tables: &mut Tables, uart: &Uart) {
    let registers = Region {
        base: uart.base,
        size: uart.size.max(1),
    };
    if uart.base != 0 && uart.is_aligned() && tables.map(registers, Kind::Device).is_ok() {
        // SAFETY: just mapped as a device.
        unsafe { console::set(uart) };
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
    say!(
        "Image at {:#x}, device tree {}",
        boot::image_start(),
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
    let bench = setup::prepare(tables, &board, &plan, [found.region, boot_area]);
    let verdict = bench.run(&board, &plan, &mut Console);
    // The closing line has been printed; the verdict is in it.
    let _ = verdict;
    panic::finish()
}
