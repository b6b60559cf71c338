//! A straight line fitted to points, using only integers.

/// A straight line fitted to points by ordinary least squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FittedLine {
    /// The number of points.
    pub n: u32,
    /// The increase in y per unit of x, rounded to the nearest integer.
    pub slope: i64,
    /// The percentage of y's variance explained by the line, rounded down.
    pub r2_percent: u8,
}

impl FittedLine {
    /// The maximum number of points.
    const POINTS_MAX: u64 = 512;
    /// The exclusive upper limit of x.
    const X_LIMIT: u64 = 512;

    /// Returns the line fitted to `points`; None if there are fewer than three, if all have the
    /// same x or the same y, or if a sum could overflow.
    pub fn through(points: impl Iterator<Item = (u64, u64)>) -> Option<Self> {
        let [n, sx, sy, sxx, sxy, syy] = sums(points)?;
        let (xx, xy, yy) = (n * sxx - sx * sx, n * sxy - sx * sy, n * syy - sy * sy);
        if n < 3 || xx <= 0 || yy <= 0 {
            return None;
        }
        let is_explained = |percent: &u8| xx * yy * i128::from(*percent) <= xy * xy * 100;
        // These take at most 60 bits, and a division of 128-bit integers is a large function.
        let (narrow_xx, narrow_xy) = (i64::try_from(xx).ok()?, i64::try_from(xy).ok()?);
        Some(Self {
            n: n as u32,
            slope: (narrow_xy + narrow_xx / 2).div_euclid(narrow_xx),
            r2_percent: (0..=100).rev().find(is_explained)?,
        })
    }
}

/// Returns the greatest vertical distance between a point and the line fitted to all points,
/// rounded; None if [`FittedLine::through`] returns None.
pub fn residual(points: impl Iterator<Item = (u64, u64)> + Clone) -> Option<u64> {
    FittedLine::through(points.clone())?;
    let [n, sx, sy, sxx, sxy, _] = sums(points.clone())?;
    let (xx, xy) = (n * sxx - sx * sx, n * sxy - sx * sy);
    let scale = n * xx;
    let scaled_distance = |(x, y): (u64, u64)| {
        let (x, y) = (i128::from(x), i128::from(y));
        ((n * y - sy) * xx - xy * (n * x - sx)).abs()
    };
    let greatest = points.map(scaled_distance).max()?;
    Some(((greatest + scale / 2) / scale) as u64)
}

/// Returns the number of points, and the sums of x, y, x * x, x * y and y * y; None if fitting a
/// line could overflow. The sum of y * y takes at most 73 bits, and n times that takes 82.
fn sums(points: impl Iterator<Item = (u64, u64)>) -> Option<[i128; 6]> {
    let mut sums = [0; 6];
    for (x, y) in points {
        if sums[0] == i128::from(FittedLine::POINTS_MAX) || x >= FittedLine::X_LIMIT || y >> 32 != 0
        {
            return None;
        }
        let (x, y) = (i128::from(x), i128::from(y));
        for (sum, more) in sums.iter_mut().zip([1, x, y, x * x, x * y, y * y]) {
            *sum += more;
        }
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_line_goes_through_enough_different_points() {
        let fit = |points: &mut dyn Iterator<Item = (u64, u64)>| {
            FittedLine::through(points).map(|line| (line.n, line.slope, line.r2_percent))
        };
        // Juno, TF-A v2.9, level 0 in parallel, sorted, in nanoseconds.
        let powerdowns = [106_160, 246_000, 385_220, 524_380, 662_340, 802_000];
        let juno: Vec<_> = (0..).zip(powerdowns).collect();
        for (points, expected) in [
            (&juno[..], Some((6, 139_068, 99))),
            (&juno[..2], None),
            (&[(1, 5), (1, 15), (1, 7)], None),
            (&[(0, 5), (1, 5), (2, 5)], None),
            (&[(0, 105), (1, 205), (2, 305)], Some((3, 100, 100))),
            (&[(0, 30), (1, 20), (2, 10)], Some((3, -10, 100))),
            (&[(0, 0), (1, 1 << 32), (2, 1)], None),
            (&[(0, 0), (512, 1), (2, 1)], None),
        ] {
            assert_eq!(fit(&mut points.iter().copied()), expected, "{points:?}");
        }
        assert_eq!(fit(&mut (0..513).map(|index| (index % 512, index))), None);
        // The sums are largest with half of the points in one corner and half in the opposite
        // corner.
        let (most_x, most_y) = (FittedLine::POINTS_MAX - 1, u64::from(u32::MAX));
        let mut corners =
            (0..FittedLine::POINTS_MAX).map(|index| (index % 2 * most_x, index % 2 * most_y));
        assert_eq!(fit(&mut corners), Some((512, 8_405_024, 100)));
    }
}
