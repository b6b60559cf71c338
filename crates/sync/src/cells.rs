//! The atomics and cells used by the hand-over. With `--cfg loom`, they are replaced by
//! `cells_loom.rs`.

use core::cell::UnsafeCell;
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A value passed from one CPU to another.
#[derive(Debug)]
pub struct SharedCell<T>(UnsafeCell<T>);

impl<T> SharedCell<T> {
    /// Returns a cell containing `value`.
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Returns a copy of the value.
    ///
    /// # Safety
    /// No other CPU may write the value during this call.
    pub unsafe fn read(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.get().read() }
    }

    /// Changes the value.
    ///
    /// # Safety
    /// No other CPU may read or write the value during this call.
    pub unsafe fn write(&self, value: T)
    where
        T: Copy,
    {
        // SAFETY: guaranteed by the caller. The previous value is Copy, so it does not need to be
        // dropped.
        unsafe { self.0.get().write(value) };
    }

    /// Returns a reference to the value.
    ///
    /// # Safety
    /// No other CPU may read or write the value, and no other reference to it may be in use.
    #[expect(
        clippy::mut_from_ref,
        reason = "access to the value is transferred with the order"
    )]
    pub unsafe fn as_mut(&self) -> &mut T {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *self.0.get() }
    }
}
