//! Builds everything that a board boots, using the TF-A source (`fip build`).
//!
//! | file | task |
//! |---|---|
//! | `make_variable` | variables that the user adds |
//! | `inputs` | reads the images that TF-A does not build |
//! | `plan` | what must be built, and whether it can be |
//! | `readme` | the files, and the page that explains where they go |
//! | `contents` | builds everything |
//! | `commands` | the commands for a manual build |
//!
//! A file imports only from the files above it.

mod commands;
mod contents;
mod inputs;
mod make_variable;
mod plan;
mod readme;

pub use self::commands::commands;
pub use self::contents::{MARK, contents};
pub use self::inputs::{GivenFiles, NamedFile};
pub use self::make_variable::{MakeVariable, MakeVariableError};
pub use self::plan::{BuildPlan, BuildRequest};
