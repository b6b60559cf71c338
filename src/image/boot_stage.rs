//! The stages of a boot, each of which has a mark.
//!
//! A mark is a letter in angle brackets on the emergency UART: `<E>`. An image prints marks if
//! its parameter block says so (`cargo xtask image --bootlog`).

use crate::spec::words::words;

words! {
    /// A stage of the boot. Its mark is printed when the stage has been reached.
    pub enum BootStage, letter {
        /// The first instructions run.
        Entry = "E",
        /// Caches are off, and hold nothing of what the payload is going to write.
        Caches = "C",
        /// MMU and caches are on, and the emergency UART is mapped.
        Mmu = "M",
        /// A device tree has been found.
        Tree = "T",
        /// The device tree and the boot arguments have been accepted.
        Board = "B",
        /// The lead's interrupt controller and timer work.
        Gic = "G",
        /// The first CPU_ON is about to be called.
        CpuOn = "O",
        /// The first suspend is about to be called.
        Suspend = "S",
    }
}

impl BootStage {
    /// Returns the letter as a number, for the entry code.
    pub const fn code(self) -> u8 {
        self.letter().as_bytes()[0]
    }

    /// Returns the last stage whose mark `log` contains.
    pub fn last_in(log: &str) -> Option<Self> {
        let mark = |stage: &Self| {
            let bytes = [b'<', stage.code(), b'>'];
            let is_mark = |window: &[u8]| window == bytes;
            log.as_bytes().windows(bytes.len()).rposition(is_mark)
        };
        let stages = Self::ALL.into_iter();
        stages
            .max_by_key(mark)
            .filter(|stage| mark(stage).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mark_counts() {
        for (log, expected) in [
            ("", None),
            ("NOTICE: BL31\r\n<E", None),
            ("<X><e>", None),
            ("NOTICE: BL31\r\n<E>", Some(BootStage::Entry)),
            ("<E><C><M>\r\n<T>\r\nImage", Some(BootStage::Tree)),
            // Reset, and stopped earlier than before.
            ("<E><C><M>\r\n<T>\r\n<E>", Some(BootStage::Entry)),
            ("<O>\r\n<RT_INSTR:x\t0\t0\t1/>", Some(BootStage::CpuOn)),
        ] {
            assert_eq!(BootStage::last_in(log), expected, "{log}");
        }
    }
}
