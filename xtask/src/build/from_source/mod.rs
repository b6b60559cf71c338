//! What a board boots, from TF-A's source: `fip build`. `plan` finds out what must be built and
//! whether it can be, `inputs` reads the images that somebody else makes, `contents` are the files for the board, `readme` says where they go, and
//! `commands` are those that do the same by hand.

mod commands;
mod contents;
mod inputs;
mod plan;
mod readme;

pub use self::commands::commands;
pub use self::contents::{MARK, contents};
pub use self::inputs::{GivenFiles, NamedFile};
pub use self::plan::{BuildPlan, Wish};
