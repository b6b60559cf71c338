//! Audits declared idle states: compares them with each other, and with measured ones.
//!
//! The crate promises its users:
//!
//! * **No measurement of another board.** A log is rejected unless its board, CPUs and states are
//!   those of the declaration.
//! * **No verdict without evidence.** A value is judged only by a worst case over all CPUs that use
//!   the state, and each verdict says where it was measured.
//! * **Corrections that hold.** With the suggested values, the same log has no verdict that a value
//!   can correct. A source that differs from the tree is not changed.
//! * **No trust in a tree.** A tree from elsewhere may be malformed in any way.
//!
//! Declared states always come from a device tree, which may have been made from ACPI tables or from
//! a board file.
//!
//! | folder | task |
//! |---|---|
//! | `worst_case` | the longest entry and exit of each state in a log |
//! | [`audit`] | the declared states, the rules that judge them, and the suggested values |
//! | [`export`] | the formats |
//! | [`cli`] | the command line |
//!
//! Each folder imports only from the ones above it.

#![forbid(unsafe_code)]

pub mod audit;
pub mod cli;
pub mod export;
mod worst_case;
