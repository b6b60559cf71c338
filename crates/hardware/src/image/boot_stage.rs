//! Boot stages and their marks.
//!
//! A mark is a letter in angle brackets, such as `<E>`, printed on the emergency UART. An image
//! prints marks only if they are enabled in its parameter block (`cargo xtask image --bootlog`).

use crate::words;

words! {
    /// A boot stage. The stage's mark is printed once the stage has been reached.
    pub enum BootStage, letter {
        /// The first instructions are running.
        Entry = "E",
        /// Caches are off and contain no lines from memory that the payload is about to write.
        Caches = "C",
        /// The MMU and caches are on, and the emergency UART is mapped.
        Mmu = "M",
        /// Like [`Self::Mmu`], but the firmware trapped a write to TCR2, SCTLR2 or GCSCR. On most boards,
        /// this mark is not printed.
        Trapped = "X",
        /// A device tree has been found.
        Tree = "T",
        /// The device tree and the boot arguments have been accepted.
        Board = "B",
        /// The initial firmware queries have returned.
        Firmware = "F",
        /// The lead's interrupt controller and timer are working.
        Gic = "G",
        /// The first CPU_ON is about to be called.
        CpuOn = "O",
        /// The first suspend is about to be called.
        Suspend = "S",
    }
}

impl BootStage {
    /// Returns the character code of the letter, for use in the entry code.
    pub const fn code(self) -> u8 {
        self.letter().as_bytes()[0]
    }

    /// Returns the last stage with a mark in `log`. Marks are on separate lines, except that the
    /// entry mark can follow firmware output on the same line.
    pub fn last_in(log: &str) -> Option<Self> {
        log.lines().rev().find_map(Self::last_on)
    }

    fn last_on(line: &str) -> Option<Self> {
        let mut rest = line.trim();
        let mut first = None;
        let mut last = None;
        while let Some((before, stage)) = Self::split_mark(rest) {
            first = Some(stage);
            last = last.or(first);
            rest = before;
        }
        last.filter(|_| rest.is_empty() || first == Some(Self::Entry))
    }

    /// Returns the text before the mark at the end of `line`, and the mark's stage.
    fn split_mark(line: &str) -> Option<(&str, Self)> {
        let (before, letter) = line.strip_suffix('>')?.rsplit_once('<')?;
        let mut stages = Self::ALL.into_iter();
        let stage = stages.find(|stage| stage.letter() == letter)?;
        Some((before, stage))
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
            ("<Y><e>", None),
            ("NOTICE: BL31\r\n<E>", Some(BootStage::Entry)),
            ("<E><C><M>\r\n<T>\r\nImage", Some(BootStage::Tree)),
            // A reset, followed by a hang at an earlier stage than before.
            ("<E><C><M>\r\n<T>\r\n<E>", Some(BootStage::Entry)),
            ("Starting ...<E><C>\r\n", Some(BootStage::Caches)),
            (
                "U-Boot <E> hello\r\nuse <T> or <B>\r\n<html><B>bold</B>",
                None,
            ),
            ("<O>\r\n<RT_INSTR:x\t0\t0\t1/>", Some(BootStage::CpuOn)),
        ] {
            assert_eq!(BootStage::last_in(log), expected, "{log}");
        }
    }
}
