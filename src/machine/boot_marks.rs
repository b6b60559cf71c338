//! Boot stage marks, printed once a console is open. The entry code sends the marks for the first
//! two stages.

use core::sync::atomic::{AtomicU16, Ordering};

use hardware::image::BootStage;

use crate::machine::console::print_line;

/// The stages whose marks have not been printed yet, one bit each; 0 unless the parameter block
/// enables marks.
static LEFT: AtomicU16 = AtomicU16::new(0);
const _: () = assert!(BootStage::COUNT <= u16::BITS as usize);

/// Enables the marks, each of which is printed when its stage is first reached.
pub fn enable() {
    LEFT.store(u16::MAX, Ordering::Relaxed);
}

/// Prints the mark for a stage that has been reached.
pub fn reach(stage: BootStage) {
    let bit = 1 << stage as u8;
    if LEFT.load(Ordering::Relaxed) & bit != 0 {
        LEFT.fetch_and(!bit, Ordering::Relaxed);
        print_line!("<{}>", stage.letter());
    }
}
