//! Sorting in little code. The standard library's sorts would take 7 KiB of the payload's image.

/// Sorts `values`, without preserving the order of equal values. Heapsort: takes n log n steps and
/// a constant amount of stack for any input.
pub fn sort<T: Ord>(values: &mut [T]) {
    sort_by(values, |one, other| one < other);
}

/// Sorts `values` like [`sort`]; `is_less` defines the order.
pub fn sort_by<T>(values: &mut [T], is_less: impl Fn(&T, &T) -> bool) {
    // While the heap is built, its root moves down to 0; after that, its end moves down.
    let len = values.len();
    for step in (0..len + len / 2).rev() {
        let (mut root, end) = match step.checked_sub(len) {
            Some(root) => (root, len),
            None => {
                values.swap(0, step);
                (0, step)
            }
        };
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && is_less(&values[child], &values[child + 1]) {
                child += 1;
            }
            if !is_less(&values[root], &values[child]) {
                break;
            }
            values.swap(root, child);
            root = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn every_order_of_a_few_values_and_many_values() {
        for len in 0..6u32 {
            for order in 0..6u32.pow(len) {
                let mut values: Vec<u32> = (0..len).map(|it| order / 6u32.pow(it) % 6).collect();
                let mut expected = values.clone();
                expected.sort_unstable();
                sort(&mut values);
                assert_eq!(values, expected);
            }
        }
        let mut many: Vec<u64> = (0..100_000).map(|it: u64| it * it % 7_919).collect();
        sort(&mut many);
        assert!(many.is_sorted());
    }
}
