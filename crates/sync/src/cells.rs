//! The atomics and cells of the hand-over. With `--cfg loom`, `cells_loom.rs` replaces them.

use core::cell::UnsafeCell;
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A value that changes hands between CPUs.
#[derive(Debug)]
pub struct SharedCell<T>(UnsafeCell<T>);

impl<T> SharedCell<T> {
    /// Returns a cell with `value`.
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Returns a copy of the value.
    ///
    /// # Safety
    /// No other CPU writes the value meanwhile.
    pub unsafe fn read(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: the caller's promise.
        unsafe { self.0.get().read() }
    }

    /// Changes the value.
    ///
    /// # Safety
    /// No other CPU reads or writes the value meanwhile.
    pub unsafe fn write(&self, value: T)
    where
        T: Copy,
    {
        // SAFETY: the caller's promise. The previous value is Copy: it needs no drop.
        unsafe { self.0.get().write(value) };
    }

    /// Returns a reference to the value.
    ///
    /// # Safety
    /// No other CPU reads or writes the value, and no other reference to it is in use.
    #[expect(
        clippy::mut_from_ref,
        reason = "the value changes hands with the order"
    )]
    pub unsafe fn as_mut(&self) -> &mut T {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.0.get() }
    }
}
