//! Records the blocks of the firmware that CPUs execute, and its stores of timestamps.
//!
//! Arguments: `out=FILE`, the record; `blocks=A-B`, the addresses of the firmware's code;
//! `stores=A-B`, those of its timestamps; `lose=N`, a block whose execution is lost, for
//! tests. `xtask/src/profile/record.rs` reads the record, and has its format.

mod recorder;

use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;

use qemu_abi::{Arguments, Block, Counts, Plugin};

use recorder::Recorder;

struct Profile {
    blocks: Range<u64>,
    stores: Range<u64>,
    recorder: Recorder<BufWriter<File>>,
}

fn make(arguments: &Arguments) -> Result<Profile, String> {
    let path = arguments.get("out")?;
    let file = File::create(path).map_err(|error| format!("out={path}: {error}"))?;
    let lose = arguments.get("lose").ok().and_then(|it| it.parse().ok());
    Ok(Profile {
        blocks: arguments.range("blocks")?,
        stores: arguments.range("stores")?,
        recorder: Recorder::new(BufWriter::new(file), lose),
    })
}

impl Plugin for Profile {
    fn translate(&mut self, block: &mut Block) {
        if !self.blocks.contains(&block.address()) {
            block.count();
            return;
        }
        let number = self.recorder.define(block.address(), block.len() as u32);
        block.report_execution(number);
        block.report_stores();
    }

    fn execute(&mut self, block: u32, cpu: u32, counts: Counts) {
        self.recorder.execute(block, cpu, counts);
    }

    fn store(&mut self, instruction: u32, address: u64) {
        if self.stores.contains(&address) {
            self.recorder
                .store(instruction, address - self.stores.start);
        }
    }

    fn end(&mut self, counts: Counts) {
        if let Some(error) = self.recorder.end(counts) {
            eprintln!("plugin: the record: {error}");
        }
    }
}

qemu_abi::export!(make);
