//! What was found outside the suite, as records.

use core::fmt::{self, Write};

use arrayvec::ArrayString;

use super::line::{Recorder, Type, WORD_MAX};
use crate::measure::{Summary, Waker};
use crate::model::{Run, Spread, TestReport, WakeSource};

/// What was found outside the suite.
pub(crate) fn points(to: &mut Recorder<'_>, run: &Run<'_>, test: &TestReport<'_>) {
    let t = test.scenario.number();
    for point in test.points {
        let mpidr = run.cpu(point.cpu.into()).mpidr;
        let (how, variant) = (point.how.word(), point.variant);
        let x = X(point.x);
        let metric = point.measure.key();
        to.begin(
            Type::Point,
            &format_args!("t={t} mpidr={mpidr:#x} how={how} var={variant} {x}metric={metric} "),
        );
        to.number("per", point.per.into());
        summary_fields(to, &point.figures);
        to.number_if("lost", Some(point.lost).filter(|lost| *lost > 0));
        match (point.waker, point.waker.helper()) {
            (_, Some(helper)) => to.number("woken_by", helper as u64),
            (Waker::Frame, _) => to.word("waker", WakeSource::Frame.word()),
            _ => {}
        }
        to.finish();
    }
    for spread in test.histograms {
        histogram(to, run, t, spread);
    }
}

/// Empty bins in a row that are told and do not end a record: as many as
/// would not be shorter left out.
const GAP: usize = 40;

/// How the samples of a point are spread.
fn histogram(to: &mut Recorder<'_>, run: &Run<'_>, t: u64, it: &Spread) {
    let mpidr = run.cpu(it.cpu.into()).mpidr;
    let (how, variant, metric) = (it.how.word(), it.variant, it.measure.key());
    let mut bins = it.histogram.bins().peekable();
    while let Some(first) = bins.by_ref().find(|bin| bin.count > 0) {
        let (from, width) = (first.from, first.width);
        to.begin(
            Type::Histogram,
            &format_args!(
                "t={t} mpidr={mpidr:#x} how={how} var={variant} metric={metric} from={from} "
            ),
        );
        to.number("step", width);
        // Bins of one width follow each other, as far as there is room.
        let mut counts = ArrayString::<WORD_MAX>::new();
        let _ = write!(counts, "{}", u64::from(first.count));
        let (mut gap, room) = (0, to.room("c"));
        while let Some(bin) = bins.peek().filter(|bin| bin.width == width && gap < GAP) {
            gap += 1;
            if bin.count > 0 {
                let mut longer = counts;
                for _ in 1..gap {
                    let _ = longer.try_push_str(",0");
                }
                if write!(longer, ",{}", u64::from(bin.count)).is_err() || longer.len() > room {
                    break;
                }
                (counts, gap) = (longer, 0);
            }
            bins.next();
        }
        to.field("c", &counts);
        to.finish();
    }
}

/// The key of what was varied, where something was.
struct X(Option<u64>);

impl fmt::Display for X {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |x| write!(f, "x={x} "))
    }
}

/// Writes the fields of order statistics.
pub(crate) fn summary_fields(to: &mut Recorder<'_>, figures: &Summary) {
    let least = [figures.n.into(), figures.min, figures.median];
    to.numbers("n min med", &least);
    to.number_if("p99", figures.p99);
    to.numbers("max mad", &[figures.max, figures.mad]);
}
