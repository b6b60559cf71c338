//! loom's atomics and cells, which replace `cells.rs`. For mutation testing, the ordering of one
//! access in the source can be weakened, to check that the scenarios detect it.

pub use loom::sync::atomic::Ordering;

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::Mutex;

use loom::cell::UnsafeCell;

/// The line and column of an access.
pub type AccessLocation = (u32, u32);

/// The accesses executed with a non-relaxed ordering.
static ORDERED: Mutex<BTreeSet<AccessLocation>> = Mutex::new(BTreeSet::new());
/// The access whose ordering is weakened to relaxed.
static WEAKENED: Mutex<Option<AccessLocation>> = Mutex::new(None);

/// Returns the accesses in `handover.rs` that were executed with a non-relaxed ordering.
pub fn ordered_locations() -> BTreeSet<AccessLocation> {
    ORDERED.lock().expect("no panic while locked").clone()
}

/// Weakens the ordering at `location` to relaxed, for the rest of this process.
pub fn weaken(location: AccessLocation) {
    *WEAKENED.lock().expect("no panic while locked") = Some(location);
}

/// Returns the ordering to use for an access by the code that called the atomic's method.
#[track_caller]
fn effective(ordering: Ordering) -> Ordering {
    if ordering == Ordering::Relaxed {
        return ordering;
    }
    let caller = Location::caller();
    let location = (caller.line(), caller.column());
    ORDERED
        .lock()
        .expect("no panic while locked")
        .insert(location);
    let is_weakened = *WEAKENED.lock().expect("no panic while locked") == Some(location);
    if is_weakened {
        Ordering::Relaxed
    } else {
        ordering
    }
}

macro_rules! atomic {
    ($name:ident, $inner:ident, $value:ty) => {
        /// loom's atomic, with mutations.
        #[derive(Debug)]
        pub struct $name(loom::sync::atomic::$inner);

        impl $name {
            /// Returns an atomic initialized to `value`.
            pub fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$inner::new(value))
            }

            /// Returns the value.
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $value {
                self.0.load(effective(ordering))
            }

            /// Changes the value.
            #[track_caller]
            pub fn store(&self, value: $value, ordering: Ordering) {
                self.0.store(value, effective(ordering));
            }

            /// Sets the value to `new` if it equals `current`.
            ///
            /// # Errors
            /// Returns the actual value if it does not equal `current`.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let success = effective(success);
                self.0.compare_exchange(current, new, success, failure)
            }
        }
    };
}

atomic!(AtomicU32, AtomicU32, u32);
atomic!(AtomicU64, AtomicU64, u64);

/// A value that is passed from one CPU to another. loom reports unordered accesses by two CPUs.
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
    /// There are no requirements: loom checks the access.
    pub unsafe fn read(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: loom fails the test if another thread writes at the same time.
        self.0.with(|value| unsafe { *value })
    }

    /// Changes the value.
    ///
    /// # Safety
    /// There are no requirements: loom checks the access.
    pub unsafe fn write(&self, value: T)
    where
        T: Copy,
    {
        // SAFETY: loom fails the test if another thread reads or writes at the same time.
        self.0.with_mut(|value_ptr| unsafe { *value_ptr = value });
    }

    /// Returns a reference to the value.
    ///
    /// # Safety
    /// There are no requirements: loom checks that no other thread is accessing the value.
    #[expect(clippy::mut_from_ref, reason = "as in cells.rs")]
    pub unsafe fn as_mut(&self) -> &mut T {
        // SAFETY: the tests never hold a reference for longer than one statement.
        self.0.with_mut(|value_ptr| unsafe { &mut *value_ptr })
    }
}
