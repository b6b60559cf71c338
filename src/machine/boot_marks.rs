//! The marks of the boot's stages, on a console that has been opened. The entry code sends
//! those of the first two stages.

use core::sync::atomic::{AtomicU16, Ordering};

use hardware::image::BootStage;

use crate::machine::console::print_line;

/// The stages whose marks are still to be printed, a bit each: none unless the parameter block
/// asks for marks.
static LEFT: AtomicU16 = AtomicU16::new(0);
const _: () = assert!(BootStage::COUNT <= u16::BITS as usize);

/// Has the mark of each stage printed, when the stage is reached for the first time.
pub fn enable() {
    LEFT.store(u16::MAX, Ordering::Relaxed);
}

/// Prints the mark of a stage that has been reached.
pub fn reach(stage: BootStage) {
    let bit = 1 << stage as u8;
    if LEFT.load(Ordering::Relaxed) & bit != 0 {
        LEFT.fetch_and(!bit, Ordering::Relaxed);
        print_line!("<{}>", stage.letter());
    }
}
