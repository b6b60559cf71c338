//! Atomics and cells of the hand-over, named as in the package loom, so that a test
//! can put others in their place.

use core::cell::UnsafeCell;

pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A value that is reached through pointers alone.
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Returns a cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Calls `read` with a pointer for reading.
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `change` with a pointer for writing.
    pub fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.0.get())
    }
}
