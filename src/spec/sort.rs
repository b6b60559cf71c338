//! One sort for all: heapsort, a few hundred bytes where the library's
//! `sort_unstable` takes kilobytes for each type that it sorts.
//!
//! Williams, "Algorithm 232: Heapsort", Communications of the ACM 7 (1964):
//! in place, and n log n whatever the order, which comes from outside.

/// Sorts `items` by `key`, least first; equal ones end up in any order.
pub(crate) fn by_key<T>(items: &mut [T], key: impl Fn(&T) -> u64) {
    // `items[..end]` is the heap, in which no child is greater than its
    // parent; its upper half has no children, and so is one from the start.
    let mut end = items.len();
    let mut root = end / 2;
    while end > 1 {
        if root > 0 {
            root -= 1;
        } else {
            end -= 1;
            items.swap(0, end);
        }
        if let Some(heap) = items.get_mut(..end) {
            sift_down(heap, root, &key);
        }
    }
}

/// Moves the item at `root` down to where no child is greater.
fn sift_down<T>(heap: &mut [T], mut root: usize, key: &impl Fn(&T) -> u64) {
    loop {
        let children = heap.iter().enumerate().skip(2 * root + 1).take(2);
        let greatest = children.max_by_key(|(_, item)| key(item));
        let (Some((child, greatest)), Some(parent)) = (greatest, heap.get(root)) else {
            return;
        };
        if key(greatest) <= key(parent) {
            return;
        }
        heap.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests {
    use super::by_key;
    use std::vec::Vec;

    #[test]
    fn every_order_of_a_few() {
        // Numbers in base 4: all sequences of five digits, repeats among them.
        for code in 0..4u64.pow(5) {
            let mut items: Vec<u64> = (0..5).map(|digit| code >> (2 * digit) & 3).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            by_key(&mut items, |item| *item);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn many_and_none() {
        by_key::<u64>(&mut [], |item| *item);
        let mut items: Vec<u64> = (0..1000).map(|n| n * 7919 % 1009).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        by_key(&mut items, |item| *item);
        assert_eq!(items, expected);
        by_key(&mut items, |item| u64::MAX - item);
        expected.reverse();
        assert_eq!(items, expected);
    }
}
