//! State that CPUs share: the hand-over of orders and outcomes between two CPUs, and the heap,
//! which only one CPU uses.
//!
//! The crate promises that an order and its outcome arrive complete or not at all, in any
//! interleaving of the two CPUs' steps, and that no second CPU can allocate memory from the heap,
//! and no CPU during a round.
//!
//! The crate does not define orders or outcomes, because the messages are type parameters. It does
//! not start or stop CPUs. It is compiled for the target, for the host, and with `--cfg loom` for
//! the model checker (`tests/loom.rs`).
//!
//! ```
//! use std::hint::spin_loop;
//! use std::thread;
//! use sync::Handover;
//!
//! let shared: Handover<u64, u64, ()> = Handover::new(None);
//! thread::scope(|scope| {
//!     // The other CPU executes its order.
//!     scope.spawn(|| {
//!         while shared.order().is_none() {
//!             spin_loop();
//!         }
//!         let order = shared.order().expect("an order that is not done");
//!         shared.finish(order + 1);
//!     });
//!     // The lead waits for the outcome.
//!     shared.give_order(41);
//!     while !shared.is_done() {
//!         spin_loop();
//!     }
//!     assert_eq!(shared.outcome(), Some(42));
//! });
//! ```
//!
//! | file | task |
//! |---|---|
//! | [`bump`] | the bookkeeping for a heap that grows upward |
//! | [`cells`] | atomics and cells: real ones or loom's |
//! | [`handover`] | the state shared by the lead and one other CPU |
//! | `heap` | the heap, not compiled for loom |
//!
//! Each file imports only from the files above it.

#![cfg_attr(not(loom), no_std)]

pub mod bump;
#[cfg_attr(loom, path = "cells_loom.rs")]
pub mod cells;
pub mod handover;
#[cfg(not(loom))]
pub mod heap;

pub use self::handover::{Handover, Stop};
#[cfg(not(loom))]
pub use self::heap::Heap;
