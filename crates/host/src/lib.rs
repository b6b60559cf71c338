//! Functions needed by every program on the host: progress, child processes, files and interrupts.
//!
//! The crate promises that a command that fails or is interrupted does not replace any file or
//! directory with an incomplete one, and leaves no child process running. Its exit code tells
//! failures, bad input and incomplete results apart.
//!
//! The crate imports nothing from the other crates, and does not parse command lines.
//!
//! ```
//! use std::fs;
//! use host::{files, hex};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("report.txt");
//! files::write_by(("-o", &path), |out| Ok(out.write_all(b"6 passed")?))?;
//!
//! // If writing fails, the old file is unchanged.
//! let failed = files::write_by(("-o", &path), |out| {
//!     out.write_all(b"5 pas")?;
//!     anyhow::bail!("interrupted")
//! });
//! assert!(failed.is_err());
//! assert_eq!(hex::hex(&fs::read(&path)?), "3620706173736564");
//! # anyhow::Ok(())
//! ```
//!
//! | file | task |
//! |---|---|
//! | [`hex`] | bytes as hexadecimal digits |
//! | [`read_file`] | reads files up to a size limit |
//! | [`stdout`] | standard output that tolerates a closed pipe |
//! | [`paint`] | lines in the colors of their results |
//! | [`wrap`] | lines wrapped to the terminal width |
//! | [`untrusted_text`] | text from outside, without control characters |
//! | [`progress`] | progress on stderr: a spinner or a bar on a terminal, plain lines otherwise |
//! | `side_by_side` | two steps that run at the same time |
//! | [`interrupt`] | a flag that is set by Ctrl-C, SIGTERM and SIGHUP |
//! | [`places`] | directories shared by several processes |
//! | `temporary` | errors about temporary files |
//! | [`files`] | checks and writes output files |
//! | [`log_file`] | the file to which the full UART output is written |
//! | [`process`] | child processes, silent unless they fail |
//! | [`folder`] | output folders that are written completely or not at all |
//! | [`exit_code`] | the exit codes of the commands |
//! | [`retired`] | what to use instead of verbs and formats that no longer exist |
//! | `text_templates` | the template engine for text files |
//! | `tf_a_version` | the version of a TF-A source tree |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

pub mod exit_code;
pub mod files;
pub mod folder;
pub mod hex;
pub mod interrupt;
pub mod log_file;
pub mod paint;
pub mod places;
pub mod process;
pub mod progress;
pub mod read_file;
pub mod retired;
mod side_by_side;
pub mod stdout;
mod temporary;
mod text_templates;
mod tf_a_version;
pub mod untrusted_text;
pub mod wrap;

pub use self::side_by_side::side_by_side;
pub use self::temporary::TmpdirContext;
pub use self::text_templates::text_templates;
pub use self::tf_a_version::tf_a_version;
