//! What the command lines of the host programs have in common.
//!
//! `cargo xtask` has verbs of its own. The others belong to programs in other packages, which it
//! builds and runs when they are needed: `psci-report`, and the tools in `tools/`. A package lists
//! its verbs in its Cargo.toml and has their help in its `help` folder, so that `cargo xtask --help`
//! and `cargo xtask VERB --help` build nothing. The crate promises that a package that passes
//! [`help_files::check`] in its tests shows the same help either way.
//!
//! | file | task |
//! |---|---|
//! | `help_text` | what the help texts of all programs have in common |
//! | `completions` | the verb that every program has |
//! | [`tool_package`] | the packages that have verbs of `cargo xtask` |
//! | [`help_reader`] | what shells complete for such a package's verbs |
//! | [`color`] | the option `--color` |
//! | `boot_argument_tip` | a tip for boot arguments that are not part of `--args` |
//! | [`program`] | a program's `main` |
//! | [`help_style`] | a test of the help texts' size and style |
//! | [`help_files`] | a test of a package's list of verbs and help files |
//! | [`documented`] | the commands in help texts and on pages, to be run in tests |
//! | [`program_tests`] | the tests that every such program has |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

mod boot_argument_tip;
pub mod color;
mod completions;
pub mod documented;
pub mod help_files;
pub mod help_reader;
pub mod help_style;
mod help_text;
pub mod program;
pub mod program_tests;
pub mod tool_package;
