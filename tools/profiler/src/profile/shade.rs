//! Shades for stack frames in flame graphs, by the size of a change.

/// The shares of the phase in the baseline at which the second and the third shade begin.
const THRESHOLDS: [f64; 2] = [0.01, 0.1];

/// How a stack frame is drawn, depending on the change in a function's own instructions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shade {
    /// The CSS class.
    pub(super) class: &'static str,
    /// What precedes the function name, so that an increase is recognizable without colors.
    pub(super) mark: &'static str,
    /// What the legend says.
    pub(super) meaning: &'static str,
}

const SAME: Shade = shade("flame-same", "", "unchanged");
const MORE: [Shade; 3] = [
    shade("flame-more-1", "+ ", "+ less than 1 %"),
    shade("flame-more-2", "+ ", "+ 1 % to 10 %"),
    shade("flame-more-3", "+ ", "+ 10 % or more"),
];
const FEWER: [Shade; 3] = [
    shade("flame-fewer-1", "− ", "− less than 1 %"),
    shade("flame-fewer-2", "− ", "− 1 % to 10 %"),
    shade("flame-fewer-3", "− ", "− 10 % or more"),
];

const fn shade(class: &'static str, mark: &'static str, meaning: &'static str) -> Shade {
    Shade {
        class,
        mark,
        meaning,
    }
}

impl Shade {
    /// All shades, from the largest decrease to the largest increase.
    pub(super) const ALL: [&'static Self; 7] = [
        &FEWER[2], &FEWER[1], &FEWER[0], &SAME, &MORE[0], &MORE[1], &MORE[2],
    ];

    /// Returns the shade for a change in a phase that executes `baseline` instructions in the
    /// baseline. If it executes none there, every change has the last shade.
    pub(super) fn for_change(change: f64, baseline: f64) -> &'static Self {
        let is_reached = |threshold: &&f64| change.abs() >= **threshold * baseline;
        let degree = THRESHOLDS.iter().filter(is_reached).count();
        if change > 0.0 {
            &MORE[degree]
        } else if change < 0.0 {
            &FEWER[degree]
        } else {
            &SAME
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shade_depends_on_share_of_phase() {
        for (change, baseline, class) in [
            (0.0, 1000.0, "flame-same"),
            (0.1, 1000.0, "flame-more-1"),
            (9.9, 1000.0, "flame-more-1"),
            (10.0, 1000.0, "flame-more-2"),
            (-10.0, 1000.0, "flame-fewer-2"),
            (99.9, 1000.0, "flame-more-2"),
            (100.0, 1000.0, "flame-more-3"),
            (-5000.0, 1000.0, "flame-fewer-3"),
            (-5.0, 1000.0, "flame-fewer-1"),
            // The phase is new.
            (0.1, 0.0, "flame-more-3"),
            (0.0, 0.0, "flame-same"),
        ] {
            let shade = Shade::for_change(change, baseline);
            assert_eq!(shade.class, class, "{change} of {baseline}");
            assert!(Shade::ALL.contains(&shade));
        }
    }
}
