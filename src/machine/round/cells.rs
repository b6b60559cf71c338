//! The atomics and cells of the hand-over. In `verify`, loom's stand in their place.

pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use core::cell::UnsafeCell;

/// A value that changes hands between CPUs.
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// # Safety
    /// No other CPU writes the value meanwhile.
    pub unsafe fn read(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: the caller's promise.
        unsafe { self.0.get().read() }
    }

    /// # Safety
    /// No other CPU reads or writes the value meanwhile.
    pub unsafe fn write(&self, value: T)
    where
        T: Copy,
    {
        // SAFETY: the caller's promise. There is nothing to drop in the former value.
        unsafe { self.0.get().write(value) };
    }

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
