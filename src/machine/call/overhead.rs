//! The cost of the measurement itself.

use hardware::board::Mpidr;
use hardware::spec::pmf::{Interface, ReadError, Stamp};
use suite::measure::Overheads;

use crate::machine::call::call_path::CallPath;
use crate::machine::call::firmware;

/// The number of measurements, of which the shortest counts.
const MEASUREMENTS: u32 = 64;

pub fn measure_overheads(
    path: CallPath,
    pmf: Result<Interface, ReadError>,
    own: Mpidr,
) -> Overheads {
    Overheads {
        counter: least(&mut || {
            let before = path.now();
            Some(path.now() - before)
        }),
        empty: least(&mut || path.empty_region_ticks()),
        pmf_read: pmf.ok().map(|pmf| {
            least(&mut || {
                let before = path.now();
                let _ = firmware::read_timestamp(pmf, own, Stamp::EnterPsci);
                Some(path.now() - before)
            })
        }),
    }
}

fn least(once: &mut dyn FnMut() -> Option<u64>) -> u64 {
    (0..MEASUREMENTS).filter_map(|_| once()).min().unwrap_or(0)
}
