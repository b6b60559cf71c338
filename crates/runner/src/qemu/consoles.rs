//! The UARTs specified in an image. The payload does not print to any other UART.

use std::fmt::{self, Display, Formatter};

use hardware::board::TreeConsole;
use hardware::image::{ParameterBlock, UartDescription};
use hardware::text::format_error::FormatError;

/// The UARTs specified in an image.
#[derive(Clone, Debug)]
pub struct Consoles {
    /// The UART in the parameter block.
    pub emergency: Option<UartDescription>,
    /// The UART in the appended device tree, or the reason why none was found. None if there is no
    /// tree.
    pub tree: Option<Result<TreeConsole, FormatError>>,
}

impl Consoles {
    /// Reads the UARTs from `image`. Returns None if its parameter block is invalid, or if it has
    /// no parameter block.
    pub fn of(image: &[u8]) -> Option<Self> {
        let block = ParameterBlock::read(image).ok()?;
        let end = block.tree_offset.checked_add(block.tree_size)?;
        let tree = image
            .get(block.tree_offset as usize..end as usize)
            .filter(|tree| !tree.is_empty())
            .map(TreeConsole::find);
        Some(Self {
            emergency: block.uart,
            tree,
        })
    }

    /// Returns true if either UART has this base address.
    pub fn include(&self, base: u64) -> bool {
        let tree_uarts = self.tree.iter().flatten().flat_map(|console| &console.uart);
        let mut all = self.emergency.iter().chain(tree_uarts);
        all.any(|uart| uart.base == base)
    }
}

impl Display for Consoles {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.emergency {
            Some(uart) => write!(f, "its parameter block specifies {uart}")?,
            None => write!(f, "its parameter block specifies no UART")?,
        }
        let console = match &self.tree {
            None => return write!(f, ", and it has no device tree"),
            Some(Err(error)) => return write!(f, ", and its device tree cannot be read: {error}"),
            Some(Ok(console)) => console,
        };
        match (&console.uart, console.by) {
            (Ok(uart), Some(by)) => write!(f, ", and its device tree {uart}, set by {by}"),
            (Ok(uart), None) => write!(f, ", and its device tree {uart}"),
            (Err(error), _) => write!(f, ", and its device tree specifies none: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use boards::device_tree::{Choices, build};
    use boards::{GicVersion, load};
    use hardware::devices::uart::Layout;
    use hardware::image::{Conduit, UartKind};

    use super::*;
    use crate::build::image::{Emergency, assemble, tests::blank};

    /// Returns an image with `uart` in its parameter block and `tree` appended.
    fn image(uart: Option<UartDescription>, tree: Option<&[u8]>) -> Vec<u8> {
        let emergency = Emergency {
            uart,
            ..Emergency::default()
        };
        assemble(blank(0x1000), tree, emergency, 1).expect("an image")
    }

    #[test]
    fn both_uarts_are_named_with_their_addresses() {
        let board = load("juno").expect("a valid board");
        let choices = Choices {
            cpus: 1,
            gic: GicVersion::V2,
            conduit: Conduit::Smc,
            cpu_off: true,
            idle_states: &[],
        };
        let tree = build(&board, &choices, "").expect("a tree");
        let tree_uart = board.uart.emergency();
        let by_tree = format!("{tree_uart}, set by /chosen/stdout-path");
        let other = UartDescription::new(UartKind::Imx, 0x21c_0500, Layout::new(0, 4));
        let no_tree = "and it has no device tree";
        for (emergency, tree, expected) in [
            (None, None, format!("block specifies no UART, {no_tree}")),
            (
                Some(other),
                None,
                format!("block specifies imx at 0x21c0500, {no_tree}"),
            ),
            (
                None,
                Some(&*tree),
                format!("no UART, and its device tree {by_tree}"),
            ),
            (
                Some(other),
                Some(b"x"),
                "its device tree cannot be read: ".into(),
            ),
        ] {
            let consoles = Consoles::of(&image(emergency, tree)).expect("an image");
            let text = consoles.to_string();
            assert!(text.contains(&expected), "{text}");
            assert_eq!(consoles.include(other.base), emergency.is_some());
            assert_eq!(consoles.include(tree_uart.base), text.contains(&by_tree));
        }
        assert!(Consoles::of(b"not an image").is_none());
    }
}
