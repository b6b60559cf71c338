//! From the entry code to the scenarios: who am I, where is the console,
//! where is the device tree, what does it say, is there memory enough.

use super::{device_tree, setup};
use crate::machine::boot::entries::BootState;
use crate::machine::boot::layout;
use crate::machine::console;
use crate::machine::console::Console;
use crate::machine::console::ConsoleCandidate;
use crate::machine::console::print_line;
use crate::machine::cpu::instructions;
use crate::machine::cpu::registers;
use crate::machine::ending;
use crate::machine::ending::EarlyEnd;
use crate::machine::memory::loader_data;
use crate::machine::memory::tables::TranslationTables;
use psci_bench::board::{Board, Console as TreeConsole, Region, Uart};
use psci_bench::image::{Conduit, ParameterBlock};
use psci_bench::output;
use psci_bench::plan::Plan;

/// The whole run.
pub fn main(entry: BootState) -> ! {
    let BootState {
        registers,
        mut tables,
        area,
        has_firmware,
    } = entry;
    let (block, is_damaged) = parameters(&tables);
    // At EL2 an HVC would come back here: firmware takes SMC, if anything.
    let by_level = (registers::exception_level() == 2).then_some(Conduit::Smc);
    let conduit = block.conduit.or(by_level);
    ending::set_conduit(conduit.filter(|_| has_firmware));
    let emergency = block.uart.as_ref().map(Uart::from);
    if let Some(uart) = &emergency {
        open_console(&mut tables, uart, true);
    }
    let emergency = emergency.filter(|_| console::is_set());
    let found = device_tree::find(&mut tables, &block, registers);
    if let (Err(_), Some(uart), None) = (&found, &block.uart, &emergency) {
        // There is no other choice.
        open_console(&mut tables, &Uart::from(uart), false);
    }
    match found {
        Ok(found) => with_tree(tables, found, emergency, (area, has_firmware)),
        Err(_) if !has_firmware => end_without_firmware(),
        // The block would have told where the tree is.
        Err(_) if is_damaged => ending::end_run(&EarlyEnd::BadInput(
            &"the parameter block is damaged; make the image anew with cargo xtask image",
        )),
        Err(error) => ending::end_run(&EarlyEnd::BadInput(&error)),
    }
}

/// Ends a run that was begun where firmware has its place.
fn end_without_firmware() -> ! {
    ending::end_run(&EarlyEnd::Machine(
        &"entered at EL3, so there is no PSCI firmware to measure: load psci-bench as BL33",
    ))
}

/// The parameter block of the running image, and whether it is damaged.
fn parameters(tables: &TranslationTables) -> (ParameterBlock, bool) {
    let head = Region {
        size: 0x80,
        ..layout::image()
    };
    let bytes = loader_data::find_mapped(tables, head).unwrap_or_default();
    match ParameterBlock::read(bytes) {
        Ok(block) => (block, false),
        // The tree, if there is one at X0, can still be used.
        Err(_) => {
            let uart = ParameterBlock::read_uart(bytes).ok().flatten();
            let block = ParameterBlock {
                uart,
                ..ParameterBlock::default()
            };
            (block, true)
        }
    }
}

/// Makes a UART the console, if its registers can be mapped and read; where there
/// may be another, only if it takes bytes.
fn open_console(tables: &mut TranslationTables, uart: &Uart, has_choice: bool) {
    // Without a console there is nobody to tell.
    if uart.is_aligned()
        && let Ok(mut candidate) = ConsoleCandidate::open(tables, uart)
        && (!has_choice || candidate.takes_bytes())
    {
        candidate.set();
    }
}

/// Makes the tree's UART the console where the emergency UART, another one, has
/// been so far, which says so: where the tree's is none, that is the last line.
fn move_console(tables: &mut TranslationTables, from: Option<Uart>, uart: &Uart, by: &str) {
    let (kind, base) = (uart.kind.name(), uart.base);
    if from.is_none_or(|from| from.is_same(uart)) {
        return;
    }
    let Ok(mut candidate) = ConsoleCandidate::open(tables, uart) else {
        print_line!("console stays: nothing can be read at {base:#x}, by {by}");
        return;
    };
    if !candidate.takes_bytes() {
        print_line!("console stays: what is at {base:#x}, by {by}, takes no byte as {kind}");
        return;
    }
    print_line!("console moves to {kind} at {base:#x}, by {by}");
    console::wait_idle();
    candidate.set();
}

/// Goes on with a device tree in hand. `emergency` is the console so far.
fn with_tree(
    mut tables: TranslationTables,
    found: device_tree::Found,
    emergency: Option<Uart>,
    (boot_area, has_firmware): (Region, bool),
) -> ! {
    // The console and the conduit first, so that whatever is wrong with the
    // rest can be said, and the machine turned off. What the tree says of the
    // firmware wins, also that there is none to call.
    let early = TreeConsole::find(found.bytes).ok();
    if let Some(early) = &early {
        if let (Ok(uart), false) = (&early.uart, console::is_set()) {
            open_console(&mut tables, uart, false);
        }
        ending::set_conduit(early.conduit.ok().filter(|_| has_firmware));
    }
    instructions::unmask_serrors();
    let read = Board::read(found.bytes);
    // A console in a tree that is refused may be any other device.
    if let (Ok(board), Some(early)) = (&read, &early) {
        move_console(&mut tables, emergency, &board.uart, early.by);
    }
    print_line!(
        "Image at {:#x}, device tree {}",
        layout::image().base,
        found.source
    );
    if !has_firmware {
        end_without_firmware();
    }
    let board = match read {
        Ok(board) => board,
        Err(error) => ending::end_run(&EarlyEnd::BadInput(&format_args!("device tree: {error}"))),
    };
    ending::set_conduit(Some(board.conduit));
    let plan = match Plan::parse(board.bootargs) {
        Ok(plan) => plan,
        Err(error) => ending::end_run(&EarlyEnd::BadInput(&error)),
    };
    if !console::is_set() {
        // Measuring without a way to say what came of it makes no sense.
        ending::end_silently();
    }
    ending::set_end_action(plan.end);
    if plan.list {
        // The console never fails.
        let _ = output::list(&mut Console);
        ending::end_run(&EarlyEnd::Machine(
            &"only=help lists the scenarios and measures nothing",
        ));
    }
    let ready = setup::prepare(tables, &board, &plan, [found.region, boot_area]);
    let verdict = ready.run(&board, &plan, &mut Console);
    // The closing line has been printed; the verdict is in it.
    let _ = verdict;
    ending::finish()
}
