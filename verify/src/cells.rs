//! loom's atomics and cells, in the place of the payload's `machine/round/cells.rs`.

pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use loom::cell::UnsafeCell;

/// A value that changes hands: loom reports accesses of two CPUs that are not in an order.
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Returns a cell with `value`.
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// # Safety
    /// None: loom checks the access.
    pub unsafe fn read(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: loom ends the test where another thread writes meanwhile.
        self.0.with(|value| unsafe { *value })
    }

    /// # Safety
    /// None: loom checks the access.
    pub unsafe fn write(&self, value: T) {
        // SAFETY: loom ends the test where another thread reads or writes meanwhile.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    /// # Safety
    /// None: loom checks that no other thread accesses the value now.
    #[expect(clippy::mut_from_ref, reason = "as the payload's cell")]
    pub unsafe fn as_mut(&self) -> &mut T {
        // SAFETY: the tests use no reference longer than one statement.
        self.0.with_mut(|place| unsafe { &mut *place })
    }
}
