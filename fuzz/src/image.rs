//! The image header and parameter block, and the ELF file from which the image is built.

use hardware::image::{IMAGE_SIZE_OFFSET, ParameterBlock};
use runner::build::image::{Emergency, assemble, flatten};
use runner::qemu::positions::loaded_at;
use runner::qemu::symbols::Symbols;
use test_support::tree_text::accepted;

/// Checks one input.
pub fn check(data: &[u8]) {
    let block = accepted(ParameterBlock::read(data));
    match block {
        Some(block) => write_again(data, block),
        None => {
            let written = ParameterBlock::default().write(&mut data.to_vec(), 0);
            assert!(written.is_err());
        }
    }
    let emergency = block.map_or_else(Emergency::default, |block| Emergency {
        uart: block.uart,
        conduit: block.conduit,
    });
    make(data.to_vec(), emergency);
    let at = loaded_at(0x4000_0000, data);
    let _ = Symbols::of(data).and(Symbols::of(data)).at(at);
    if let Some(flat) = accepted(flatten(data)) {
        make(flat, emergency);
    }
}

fn write_again(file: &[u8], block: ParameterBlock) {
    let mut copy = file.to_vec();
    block.write(&mut copy, u64::MAX).expect("it was read");
    assert_eq!(ParameterBlock::read(&copy), Ok(block));
    // The unused fields of a block may contain anything, but writing the block zeroes them.
    let mut again = copy.clone();
    block.write(&mut again, u64::MAX).expect("it was read");
    assert_eq!(copy, again);
}

/// Builds images from `base`, with and without part of `base` as the tree.
fn make(base: Vec<u8>, emergency: Emergency) {
    let tree = base[base.len() / 2..].to_vec();
    for (tree, cpus) in [(None, 1), (Some(tree.as_slice()), 512)] {
        let Ok(image) = assemble(base.clone(), tree, emergency, cpus) else {
            continue;
        };
        let block = ParameterBlock::read(&image).expect("the built image is readable");
        assert_eq!(block.uart, emergency.uart);
        assert_eq!(block.conduit, emergency.conduit);
        assert_eq!(block.base_size, base.len() as u64);
        let from = block.tree_offset as usize;
        let tree_size = block.tree_size as usize;
        assert_eq!(image.get(from..from + tree_size), Some(tree.unwrap_or(&[])));
        let field = image[IMAGE_SIZE_OFFSET..].first_chunk();
        let image_size = u64::from_le_bytes(*field.expect("a header"));
        assert!(image_size > image.len() as u64);
    }
}
