//! Bisects a range of commits to find the jumps in a value.

use std::collections::BTreeSet;

use anyhow::Result;
use itertools::Itertools as _;

/// A commit with a figure.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The commit's index in the range.
    place: usize,
    figure: f64,
}

/// The part of the range between two points.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: Point,
    to: Point,
}

impl Segment {
    fn change(&self) -> f64 {
        (self.to.figure - self.from.figure).abs()
    }
}

/// Returns the indices on both sides of each jump: the last commit before it and the commit that
/// causes it. `measure` returns a commit's figure, or None if the commit has no figure and must be
/// skipped.
///
/// The two ends and the releases, whose indices are `releases`, are measured first. Then the part
/// of the range with the largest change is halved repeatedly, until each part either cannot be
/// halved or changes the figure by at most `tolerance`, a fraction of the first figure. If the
/// first or the last commit has no figure, the range is not halved and no jumps are returned.
pub(super) fn find_jumps(
    count: usize,
    releases: &[usize],
    tolerance: f64,
    mut measure: impl FnMut(usize) -> Result<Option<f64>>,
) -> Result<Vec<(usize, usize)>> {
    let last = count.saturating_sub(1);
    let (Some(first_figure), Some(last_figure)) = (measure(0)?, measure(last)?) else {
        return Ok(Vec::new());
    };
    let largest_ignored = tolerance * first_figure.abs();
    let mut skipped = BTreeSet::new();
    let mut points = vec![Point {
        place: 0,
        figure: first_figure,
    }];
    for place in releases.iter().copied() {
        if place == 0 || place == last {
            continue;
        }
        match measure(place)? {
            Some(figure) => points.push(Point { place, figure }),
            None => {
                skipped.insert(place);
            }
        }
    }
    points.push(Point {
        place: last,
        figure: last_figure,
    });
    let pairs = points.into_iter().tuple_windows();
    let mut segments: Vec<Segment> = pairs
        .map(|(start, end)| Segment {
            from: start,
            to: end,
        })
        .collect();
    let mut jumps = Vec::new();
    while let Some(Segment { from, to }) = take_largest(&mut segments, largest_ignored) {
        match middle(from.place, to.place, &mut skipped, &mut measure)? {
            Some(middle) => {
                segments.push(Segment { from, to: middle });
                segments.push(Segment { from: middle, to });
            }
            None => jumps.push((from.place, to.place)),
        }
    }
    jumps.sort_unstable();
    Ok(jumps)
}

/// Removes the segment with the largest change, and returns it. Returns None if no change is larger
/// than `largest_ignored`.
fn take_largest(segments: &mut Vec<Segment>, largest_ignored: f64) -> Option<Segment> {
    let index = (0..segments.len())
        .filter(|index| segments[*index].change() > largest_ignored)
        .max_by(|a, b| segments[*a].change().total_cmp(&segments[*b].change()))?;
    Some(segments.swap_remove(index))
}

/// Returns the measurable commit closest to halfway between two others.
fn middle(
    from: usize,
    to: usize,
    skipped: &mut BTreeSet<usize>,
    measure: &mut impl FnMut(usize) -> Result<Option<f64>>,
) -> Result<Option<Point>> {
    let mut places: Vec<usize> = (from + 1..to).collect();
    places.sort_by_key(|place| place.abs_diff(from.midpoint(to)));
    for place in places {
        if skipped.contains(&place) {
            continue;
        }
        if let Some(figure) = measure(place)? {
            return Ok(Some(Point { place, figure }));
        }
        skipped.insert(place);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the jumps in these figures, and the number of commits that were tried.
    fn jumps(figures: &[Option<f64>]) -> (Vec<(usize, usize)>, usize) {
        jumps_with_releases(figures, &[])
    }

    fn jumps_with_releases(
        figures: &[Option<f64>],
        releases: &[usize],
    ) -> (Vec<(usize, usize)>, usize) {
        let mut tried = BTreeSet::new();
        let jumps = find_jumps(figures.len(), releases, 0.01, |place| {
            assert!(tried.insert(place), "{place} is measured twice");
            Ok(figures[place])
        });
        (jumps.expect("no error"), tried.len())
    }

    #[test]
    fn one_jump_of_sixteen_is_found_by_six() {
        for place in 1..16 {
            let figure = |commit| Some(if commit < place { 100.0 } else { 160.0 });
            let (jumps, tried) = jumps(&(0..16).map(figure).collect::<Vec<_>>());
            assert_eq!(jumps, [(place - 1, place)]);
            assert!(tried <= 6, "{place}: {tried}");
        }
    }

    #[test]
    fn regression_behind_an_improvement_is_found() {
        // The figure falls in small jumps, and one commit raises it above its initial value.
        let mut figures = vec![Some(1285.6), Some(1258.3), Some(1039.1), Some(1039.1)];
        figures.extend([Some(1039.1), Some(1670.1), Some(1670.1), Some(1670.1)]);
        assert_eq!(jumps(&figures).0, [(0, 1), (1, 2), (4, 5)]);
    }

    #[test]
    fn commits_without_a_figure_are_passed_over() {
        let mut figures = vec![Some(100.0); 12];
        figures.extend([Some(150.0); 4]);
        figures[4..12].fill(None);
        assert_eq!(jumps(&figures).0, [(3, 12)]);
        figures[15] = None;
        assert_eq!(jumps(&figures), (vec![], 2));
    }

    #[test]
    fn release_between_equal_ends_reveals_the_jumps_around_it() {
        let mut figures = vec![Some(100.0); 16];
        figures[5..9].fill(Some(120.0));
        assert_eq!(jumps(&figures).0, []);
        let (found, _) = jumps_with_releases(&figures, &[0, 3, 7, 15]);
        assert_eq!(found, [(4, 5), (8, 9)]);
        // A release that cannot be measured is passed over.
        figures[7] = None;
        assert_eq!(jumps_with_releases(&figures, &[3, 7]).0, []);
    }

    #[test]
    fn nothing_is_halved_between_equal_ends() {
        assert_eq!(jumps(&[Some(100.0); 9]), (vec![], 2));
        assert_eq!(jumps(&[Some(100.0), Some(100.9)]), (vec![], 2));
    }
}
