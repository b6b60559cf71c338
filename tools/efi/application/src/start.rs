//! Everything from the EFI entry point to the first instruction of the payload.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use device_tree::acpi::{self, Memory as _, Tables};
use device_tree::adapt;
use hardware::board::{Board, FormatError, Gic, Mpidr, TreeConsole, total_size};
use hardware::image::{ParameterBlock, TREE_ALIGN, TREE_MAX, working_memory};
use hardware::text::plural::Many;
use psci_bench_efi::load_options::{self, LoadOptions};
use psci_bench_efi::memory_map::free;
use suite::model::ClosingLine;
use suite::plan::Plan;
use thiserror::Error;
use uefi_raw::Status;
use uefi_raw::table::boot::PAGE_SIZE;

use crate::machine::console::{print_closing, print_line};
use crate::machine::efi_services::{DEVICE_TREE, EfiServices, MainResult, RSDP, Readable};
use crate::machine::{payload, registers};

/// The payload image, with or without a user-provided device tree.
const IMAGE: &[u8] = include_bytes!(env!("PSCI_BENCH_IMAGE"));
/// The default boot arguments, used if the load options contain none.
const ARGUMENTS: &str = env!("PSCI_BENCH_ARGS");

/// A device tree, and the name used for it in messages.
type NamedTree = (Vec<u8>, String);

/// The payload in memory, complete except for the final memory map.
struct Loaded {
    memory: &'static mut [u8],
    block: ParameterBlock,
    tree: Vec<u8>,
}

/// The reason why the payload cannot run.
#[derive(Debug, Error)]
enum StartError {
    #[error("entered at EL{0}, but PSCI can only be called from EL1 or EL2")]
    ExceptionLevel(u64),
    #[error("the image: {0}")]
    Image(FormatError),
    #[error("the application image is shorter than its header specifies")]
    CutImage,
    #[error("the application's device tree is not in its image")]
    TreeNotInImage,
    #[error("EFI returned no memory map: status {:#x}", .0.0)]
    NoMemoryMap(Status),
    #[error(
        "EFI provides neither a device tree nor ACPI tables: build the application with \
         cargo xtask efi build --dtb"
    )]
    NoTree,
    #[error("{name}: not in EFI's memory map")]
    NotInMemory { name: String },
    #[error("{name}: {reason}")]
    Tree { name: String, reason: UnfitTree },
    #[error("EFI cannot allocate {size} bytes for the payload: status {:#x}", .status.0)]
    NoMemory { size: usize, status: Status },
}

/// The reason why a device tree does not match this machine.
#[derive(Debug, Error)]
enum UnfitTree {
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error("no CPU in the tree has this CPU's MPIDR, {0}")]
    NoSuchCpu(Mpidr),
    #[error("the tree describes a GICv3, but this CPU has no GICv3 system registers")]
    NoGicV3,
    #[error("the console's address is 0, so it is not a UART")]
    NoUart,
    /// The tree's boot arguments are invalid. Contains the plan's error message.
    #[error("{0}")]
    BootArguments(String),
    #[error("the tree's size is {size} bytes; the limit is {TREE_MAX}")]
    TooLarge { size: usize },
    #[error("the image: {0}")]
    Image(FormatError),
}

/// Runs the application. Returns only if the payload cannot be started.
pub fn main(mut services: EfiServices) -> MainResult {
    print_line!("psci-bench {}, EFI application", env!("CARGO_PKG_VERSION"));
    if let Err(status) = services.set_heap() {
        let reason = format_args!("EFI cannot allocate memory: status {:#x}", status.0);
        print_closing(&ClosingLine::Incomplete(&reason));
        return MainResult::Returned(status);
    }
    match load(&mut services) {
        Ok(loaded) => MainResult::Returned(leave(services, loaded)),
        Err(error) => {
            print_closing(&ClosingLine::BadInput(&error));
            print_line!("Nothing was measured. Returning to EFI.");
            if services.shell_arguments().is_none() {
                services.wait();
            }
            MainResult::Refused(services)
        }
    }
}

/// Builds everything that the payload needs, or returns the reason why it cannot run.
fn load(services: &mut EfiServices) -> Result<Loaded, StartError> {
    let level = registers::exception_level();
    if !(1..=2).contains(&level) {
        return Err(StartError::ExceptionLevel(level));
    }
    let block = ParameterBlock::read(IMAGE).map_err(StartError::Image)?;
    let map = services.memory_map().map_err(StartError::NoMemoryMap)?;
    let memory = free(&map.descriptors);
    let arguments = arguments(services);
    let (found, name) = find_tree(services, &block, &services.readable(&map))?;
    let tree_error = |reason| StartError::Tree {
        name: name.clone(),
        reason,
    };
    let bootargs = match (arguments.as_deref(), ARGUMENTS) {
        (Some(given), _) => Some(given),
        // The tree was provided by the user.
        (None, "") if block.tree_size > 0 => None,
        (None, built_in) => Some(built_in),
    };
    let tree = adapt(&found, bootargs, Some(&memory)).map_err(|error| tree_error(error.into()))?;
    let cpus = check(&tree, bootargs).map_err(tree_error)?;
    let mut loaded = place(services, block, cpus)?;
    loaded.write(tree).map_err(tree_error)?;
    print_line!(
        "Entered at EL{level}, with {name}, for {}",
        Many(cpus as u64, "CPU")
    );
    Ok(loaded)
}

/// Returns the boot arguments that the application was started with.
fn arguments(services: &EfiServices) -> Option<String> {
    if let Some(arguments) = services.shell_arguments() {
        let words: Vec<String> = arguments
            .iter()
            .map(|word| String::from_utf16_lossy(word))
            .collect();
        return Some(words.join(" ")).filter(|text| !text.is_empty());
    }
    match load_options::parse(services.load_options()) {
        LoadOptions::None => None,
        LoadOptions::Arguments(text) => Some(text),
        LoadOptions::Binary => {
            print_line!("The load options are not text and are ignored.");
            None
        }
    }
}

/// Finds the device tree: the user's tree if there is one, otherwise the tree from EFI, otherwise a
/// tree built from the ACPI tables.
fn find_tree(
    services: &EfiServices,
    block: &ParameterBlock,
    readable: &Readable,
) -> Result<NamedTree, StartError> {
    if block.tree_size > 0 {
        let tree = IMAGE
            .get(block.tree_offset as usize..)
            .and_then(|tree| tree.get(..block.tree_size as usize))
            .ok_or(StartError::TreeNotInImage)?;
        return Ok((tree.into(), "the application's device tree".into()));
    }
    if let Some(base) = services.configuration_table(DEVICE_TREE) {
        let name = format!("EFI's device tree at {base:#x}");
        let missing_tree = || StartError::NotInMemory { name: name.clone() };
        let tree_error = |error: FormatError| StartError::Tree {
            name: name.clone(),
            reason: error.into(),
        };
        let header = readable.bytes(base, 8).ok_or_else(missing_tree)?;
        let size = total_size(header).map_err(tree_error)?;
        let tree = readable.bytes(base, size as u64).ok_or_else(missing_tree)?;
        return Ok((tree.into(), name));
    }
    let base = services
        .configuration_table(RSDP)
        .ok_or(StartError::NoTree)?;
    let name = format!("the device tree built from ACPI tables at {base:#x}");
    let cpu = registers::cpu_compatible();
    let made = Tables::find(readable, base).and_then(|tables| acpi::to_tree(&tables, cpu));
    match made {
        Ok(made) => {
            for note in &made.notes {
                print_line!("Note: {note}");
            }
            Ok((made.tree, name))
        }
        Err(error) => Err(StartError::Tree {
            name,
            reason: error.into(),
        }),
    }
}

/// Reads everything that the payload reads from its tree before it starts measuring, and returns
/// the number of CPUs. `bootargs` contains the boot arguments that are not the tree's own.
fn check(tree: &[u8], bootargs: Option<&str>) -> Result<usize, UnfitTree> {
    let board = Board::read(tree)?;
    let (_, cpus) = board.cpus(registers::mpidr_counts_threads())?;
    let own = registers::mpidr();
    if !cpus.iter().any(|cpu| cpu.mpidr == own) {
        return Err(UnfitTree::NoSuchCpu(own));
    }
    if matches!(board.gic, Some(Gic::V3 { .. })) && !registers::has_gic_v3() {
        return Err(UnfitTree::NoGicV3);
    }
    if board.uart.base == 0 {
        return Err(UnfitTree::NoUart);
    }
    let plan = match bootargs {
        Some(given) => Plan::parse(given),
        None => Plan::parse_from_tree(board.bootargs),
    };
    plan.map_err(|error| UnfitTree::BootArguments(error.to_string()))?;
    print_line!("Boot arguments: {:?}", board.bootargs);
    print_line!(
        "Results are printed only on the UART: {} at {:#x}",
        board.uart.kind.name(),
        board.uart.base
    );
    Ok(cpus.len())
}

/// Copies the image to memory, with room for a tree and for the payload's initial working memory.
fn place(
    services: &mut EfiServices,
    mut block: ParameterBlock,
    cpus: usize,
) -> Result<Loaded, StartError> {
    let base = IMAGE
        .get(..block.base_size as usize)
        .ok_or(StartError::CutImage)?;
    let offset = base.len().next_multiple_of(TREE_ALIGN);
    block.tree_offset = offset as u64;
    let size = offset + TREE_MAX + PAGE_SIZE + working_memory(cpus as u32) as usize;
    let memory = services
        .take(size)
        .map_err(|status| StartError::NoMemory { size, status })?;
    memory[..base.len()].copy_from_slice(base);
    Ok(Loaded {
        memory,
        block,
        tree: Vec::new(),
    })
}

impl Loaded {
    /// Writes `tree` after the image and records its location in the parameter block.
    fn write(&mut self, tree: Vec<u8>) -> Result<(), UnfitTree> {
        let size = tree.len();
        if size > TREE_MAX {
            return Err(UnfitTree::TooLarge { size });
        }
        let console = TreeConsole::find(&tree)?;
        let block = ParameterBlock {
            tree_size: size as u64,
            uart: console.uart.ok(),
            conduit: console.conduit.ok(),
            ..self.block
        };
        let needs = self.memory.len() as u64;
        block.write(self.memory, needs).map_err(UnfitTree::Image)?;
        let offset = self.block.tree_offset as usize;
        self.memory[offset..][..size].copy_from_slice(&tree);
        self.tree = tree;
        Ok(())
    }
}

/// Exits boot services and starts the payload. Returns only if boot services cannot be exited.
fn leave(services: EfiServices, mut loaded: Loaded) -> Status {
    payload::keep(loaded.memory);
    let exited = match services.exit_boot_services() {
        Ok(exited) => exited,
        Err(status) => {
            let reason = format_args!("cannot exit boot services: status {:#x}", status.0);
            print_closing(&ClosingLine::Incomplete(&reason));
            return status;
        }
    };
    // Updating the tree cannot cause a new failure, because the tree in memory is kept if the new
    // tree is unusable.
    let memory = free(&exited.0);
    if let Ok(tree) = adapt(&loaded.tree, None, Some(&memory)) {
        let _ = loaded.write(tree);
    }
    payload::jump(&exited)
}
