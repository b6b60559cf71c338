//! Two steps that run at the same time.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use anyhow::{Error, Result};

/// Two steps in progress.
struct TwoSteps {
    has_failed: AtomicBool,
    /// The enclosing pair of steps, if one of its steps started this pair.
    outer: Option<Arc<TwoSteps>>,
}

thread_local! {
    /// The pair to which this thread's step belongs.
    static PAIR: RefCell<Option<Arc<TwoSteps>>> = const { RefCell::new(None) };
}

/// Runs `first` on this thread and `second` on another, and returns both results.
///
/// # Errors
/// Returns the error from the step that fails first. The other step is then stopped: its next call
/// to [`crate::interrupt::check`] returns an error, and the programs it has started are terminated
/// too.
pub fn side_by_side<A, B: Send>(
    first: impl FnOnce() -> Result<A>,
    second: impl FnOnce() -> Result<B> + Send,
) -> Result<(A, B)> {
    let outer = PAIR.with_borrow(Clone::clone);
    let pair = Arc::new(TwoSteps {
        has_failed: AtomicBool::new(false),
        outer: outer.clone(),
    });
    let failure = OnceLock::new();
    let results = thread::scope(|scope| {
        let other_thread = scope.spawn(|| run_step(&pair, &failure, second));
        let from_first = run_step(&pair, &failure, first);
        let from_second = other_thread.join().expect("a panic ends the program");
        (from_first, from_second)
    });
    PAIR.set(outer);
    let (from_first, from_second) = results;
    match (from_first, from_second, failure.into_inner()) {
        (Some(first), Some(second), None) => Ok((first, second)),
        (.., failure) => Err(failure.expect("a step that has no result has stored its error")),
    }
}

/// Runs one of the two steps. Stores the step's error unless the other step has already failed.
fn run_step<T>(
    pair: &Arc<TwoSteps>,
    failure: &OnceLock<Error>,
    step: impl FnOnce() -> Result<T>,
) -> Option<T> {
    PAIR.set(Some(pair.clone()));
    match step() {
        Ok(value) => Some(value),
        Err(error) => {
            // Only the first error is useful, because the second may only report that the other
            // step was stopped.
            let _ = failure.set(error);
            pair.has_failed.store(true, Ordering::Relaxed);
            None
        }
    }
}

/// Returns true if the result of this thread's step is no longer needed because the other step has
/// failed.
pub(crate) fn is_given_up() -> bool {
    let mut pair = PAIR.with_borrow(Clone::clone);
    while let Some(current) = pair {
        if current.has_failed.load(Ordering::Relaxed) {
            return true;
        }
        pair = current.outer.clone();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use anyhow::bail;

    use super::*;
    use crate::{interrupt, process};

    #[test]
    fn both_results_are_returned() {
        let both = side_by_side(|| Ok(1), || Ok("two")).expect("both succeed");
        assert_eq!(both, (1, "two"));
        let nested = side_by_side(|| side_by_side(|| Ok(1), || Ok(2)), || Ok(3));
        assert_eq!(nested.expect("all succeed"), ((1, 2), 3));
    }

    #[test]
    fn failure_ends_the_other_step_and_is_the_error() {
        let sleep = || process::status(None, Command::new("sleep").arg("60"));
        let fail = || -> Result<()> { bail!("no network") };
        let started = Instant::now();
        let errors = [
            side_by_side(sleep, fail).map(|_| ()),
            side_by_side(fail, sleep).map(|_| ()),
            side_by_side(fail, || side_by_side(sleep, sleep)).map(|_| ()),
        ];
        for error in errors {
            assert_eq!(error.expect_err("one failed").to_string(), "no network");
        }
        assert!(started.elapsed() < Duration::from_secs(30));
        interrupt::check().expect("later work is not canceled");
    }
}
