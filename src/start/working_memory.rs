//! Finds, maps and divides working memory, and maps devices.

use alloc::format;

use arrayvec::ArrayVec;
use hardware::board::{Board, Cpu, Room, free_memory};
use hardware::devices::uart::registers;
use hardware::spec::region::Region;
use suite::bench::Needs;
use suite::measure::Tally;

use crate::machine::allocator::HEAP;
use crate::machine::boot::{exception, layout};
use crate::machine::ending::{give_up, or_give_up, or_refuse, refuse};
use crate::machine::memory::mmio::MappedRegisters;
use crate::machine::memory::stacks;
use crate::machine::memory::tables::{BLOCK, PAGE, Pages, TranslationTables};
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::cpu_states::CpuStates;

/// The error for a plan whose memory requirement overflows.
const TOO_LARGE: &str = "iterations= or footprint= is too large for this many CPUs";

/// The start of the error message for working memory that cannot be mapped.
pub const UNMAPPED: &str = "working memory: ";

/// The working memory that the heap does not use.
pub struct WorkingMemory {
    pub buffers: Pages,
    /// Memory for the CPUs' stacks, which is not mapped yet.
    pub stacks: Room,
}

/// Maps every device once, to report any that cannot be mapped.
pub fn map_devices(tables: &mut TranslationTables, board: &Board<'_>) {
    exception::register_device_name("console", registers(&board.uart));
    for (name, region) in board.devices() {
        exception::register_device_name(name, region);
        let what = format!("device tree: the {name} at {:#x}: ", region.base);
        or_refuse(MappedRegisters::map(tables, region), &what);
    }
}

/// Returns the number of tables needed for a device region that is mapped after a region ending at
/// `last`.
fn device_tables(last: u64, region: Region) -> u64 {
    // Level 3 tables are needed only for a partial first or last block; level 2 and level 1 tables
    // are needed for the entire region.
    let mut tables = 0;
    for (shift, most) in [(21, 2), (30, u64::MAX), (39, u64::MAX)] {
        let first = region.base >> shift;
        let count = ((region.end() - 1) >> shift) - first + 1;
        tables += count.min(most) - u64::from(first == last >> shift);
    }
    tables
}

/// Finds and maps the working memory, and adds part of it to the heap. The heap has room for
/// `extra_bytes` more than `needs` states.
pub fn find_working_memory(
    tables: &mut TranslationTables,
    board: &Board<'_>,
    needs: &Needs,
    extra_bytes: usize,
    used: [Region; 2],
) -> WorkingMemory {
    let cpus = board.cpu_count as u64;
    let per_cpu = stacks::BYTES_PER_CPU
        + (size_of::<CpuChannel>() + size_of::<Cpu>() + CpuStates::BYTES_EACH) as u64;
    let tallies = needs.tallies * size_of::<Tally>();
    // The boot arguments determine the size of these parts.
    let by_plan = [
        Some(needs.heap as u64),
        Some((extra_bytes + tallies) as u64),
        needs.buffer.checked_mul(cpus),
    ];
    let fixed = cpus * per_cpu + 5 * PAGE;
    let Some(size) = by_plan
        .into_iter()
        .try_fold(fixed, |sum, part| sum.checked_add(part?))
    else {
        refuse(&TOO_LARGE);
    };
    // Tables for the entire region: the level 3 tables, and one at each higher level for its start
    // and end.
    let mut pool_pages = size.div_ceil(BLOCK) + 3;
    let mut last = u64::MAX;
    for (_, region) in board.devices() {
        pool_pages += device_tables(last, region);
        last = region.end() - 1;
    }
    let size_with_tables = size + pool_pages * PAGE;

    let image = layout::image();
    let mut taken: ArrayVec<Region, 80> = ArrayVec::new();
    for region in board.reserved.iter().chain(&used).chain([&image]) {
        if taken.try_push(*region).is_err() {
            give_up(&"too many reserved regions");
        }
    }
    let [_, boot_area] = used;
    let near = boot_area.end();
    let found = free_memory::find(&board.memory, &taken, near, size_with_tables);
    let mut room = or_refuse(found, "");
    // The first pages contain the translation tables for the rest.
    let pool = Pages::map(tables, room.split_off(pool_pages * PAGE));
    tables.set_pool(or_give_up(pool, UNMAPPED));
    let stacks = room.split_off(cpus * stacks::BYTES_PER_CPU);
    let mut pages = or_give_up(Pages::map(tables, room), UNMAPPED);
    let buffers = pages.split_off(needs.buffer * cpus);
    HEAP.add(pages.into_bytes());
    WorkingMemory { buffers, stacks }
}
