//! Draws the stages of a boot as a bar, with the parts of stages below it.

use hardware::spec::ticks::Clock;
use hardware::text::plural::many;
use suite::model::FigureScale;

use super::chart::{Chart, Drawing, EDGE, LANE, LEFT, Mark, Scale};
use crate::analysis::boot_time::{BootStageKind, BootTime};

/// Returns the chart; None if no stage has a time.
pub(in crate::export) fn boot_chart(clock: Clock, times: &[BootTime], id: String) -> Option<Chart> {
    let unit = FigureScale::of_durations(clock);
    let bars: Vec<(&BootTime, &'static str)> = times
        .iter()
        .filter_map(|time| Some((time, class(time.stage.kind)?)))
        .collect();
    let end = |time: &BootTime| time.start.saturating_add(time.ticks);
    let from = bars.iter().map(|(time, _)| time.start).min()?;
    let to = bars.iter().map(|(time, _)| end(time)).max()?;
    let x = Scale::linear((unit.value(from), unit.value(to)), (LEFT, EDGE));
    let is_part = |time: &BootTime| time.stage.kind == BootStageKind::Part;
    let has_parts = times.iter().any(is_part);
    let top = 4.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, LANE, 1 + usize::from(has_parts));
    let axis = format!("counter ({})", unit.name());
    drawing.horizontal(&x, (top, bottom), &axis, x.ticks(96.0));
    let mut legend: Vec<Mark> = Vec::new();
    for (time, class) in &bars {
        let y = if is_part(time) { top + LANE } else { top };
        let [left, right] = [time.start, end(time)].map(|ticks| x.at(unit.value(ticks)));
        let title = time.stage.title;
        let description = format!("{title}: {} {}", unit.text(time.ticks), unit.name());
        let size = (right - left, LANE - 4.0);
        drawing.rect(class, (left, y + 2.0), size, &description);
        match legend.iter_mut().find(|(other, _)| other == class) {
            Some((_, names)) => *names += &format!("; {title}"),
            None => legend.push((class, title.to_owned())),
        }
    }
    let title = "Stages of the boot".to_owned();
    let description = format!("A bar for each of {}.", many(bars.len(), "stage"));
    Some(drawing.figure(id, [title, description], legend))
}

/// Returns the CSS class of a stage's bar; None if it has no bar.
const fn class(kind: BootStageKind) -> Option<&'static str> {
    match kind {
        BootStageKind::Image => Some("p-entry"),
        BootStageKind::HandOver => Some("p-low"),
        BootStageKind::Part => Some("p-descent"),
        BootStageKind::Total => None,
    }
}
