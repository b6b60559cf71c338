//! Records the firmware blocks that CPUs execute and the firmware's timestamp stores.
//!
//! Arguments: `out=FILE` is the output file for the record. `blocks=A-B` is the address range of
//! the firmware code, and `stores=A-B` is the address range of its timestamps. `lose=N` omits the
//! Nth block execution from the record, for use in tests. `xtask/src/profile/record.rs` reads the
//! record and describes its format.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;

use qemu_abi::{
    ArgumentError, InstructionCounts, MemoryAccess, Plugin, PluginArguments, TranslatedBlock,
};

const BLOCK: u64 = 0;
const EXECUTION: u64 = 1;
const STORE: u64 = 2;
const END: u64 = 3;

struct ProfilePlugin {
    blocks: Range<u64>,
    stores: Range<u64>,
    out: BufWriter<File>,
    error: Option<io::Error>,
    defined: u32,
    executed: u64,
    lose: Option<u64>,
}

fn make(arguments: &PluginArguments) -> Result<ProfilePlugin, ArgumentError> {
    let path = arguments.get("out")?;
    let file = File::create(path).map_err(|error| ArgumentError::File {
        name: "out".to_owned(),
        path: path.to_owned(),
        error,
    })?;
    Ok(ProfilePlugin {
        blocks: arguments.range("blocks")?,
        stores: arguments.range("stores")?,
        out: BufWriter::new(file),
        error: None,
        defined: 0,
        executed: 0,
        lose: arguments.get("lose").ok().and_then(|it| it.parse().ok()),
    })
}

impl ProfilePlugin {
    fn write(&mut self, kind: u64, (cpu, number): (u32, u32), numbers: [u64; 2]) {
        // After a failed write, for example because the disk is full, do not try again.
        // Later writes would also fail, each after a delay.
        if self.error.is_some() {
            return;
        }
        let first = kind | u64::from(cpu & 0xff_ffff) << 8 | u64::from(number) << 32;
        let words = [first, numbers[0], numbers[1]];
        let mut written = words.iter().map(|it| self.out.write_all(&it.to_le_bytes()));
        self.error = written.find_map(Result::err);
    }
}

impl Plugin for ProfilePlugin {
    fn translate(&mut self, block: &mut TranslatedBlock) {
        let (address, len) = (block.address(), block.instruction_count() as u64);
        if !self.blocks.contains(&address) {
            return block.count();
        }
        self.write(BLOCK, (0, self.defined), [address, len]);
        block.count_inside();
        block.report(self.defined);
        self.defined += 1;
    }

    fn execute(&mut self, block: u32, cpu: u32, counts: InstructionCounts) {
        self.executed += 1;
        if self.lose != Some(self.executed) {
            self.write(EXECUTION, (cpu, block), [counts.inside, counts.outside]);
        }
    }

    fn access(&mut self, instruction: u32, access: MemoryAccess) {
        if access.is_store && self.stores.contains(&access.address) {
            let offset = access.address - self.stores.start;
            self.write(STORE, (0, instruction), [offset, 0]);
        }
    }

    fn end(&mut self, counts: InstructionCounts) {
        // Do not write an end marker if the record is incomplete.
        if self.error.is_none() {
            self.write(END, (0, 0), [counts.inside, counts.outside]);
        }
        let flushed = self.out.flush().err();
        if let Some(error) = self.error.take().or(flushed) {
            eprintln!("plugin: the record is incomplete: {error}");
        }
    }
}

qemu_abi::export!(make);
