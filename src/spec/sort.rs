//! Heapsort: each instance of core's sorts takes three KiB of the image.

/// Sorts items by a number, in place; items of one number are in any order.
pub(crate) fn sort_by_key<T>(items: &mut [T], key: &dyn Fn(&T) -> u64) {
    for root in (0..items.len() / 2).rev() {
        sift_down(items, key, root);
    }
    for end in (1..items.len()).rev() {
        items.swap(0, end);
        sift_down(&mut items[..end], key, 0);
    }
}

/// Moves the item at `root` down until neither of its children is greater.
fn sift_down<T>(items: &mut [T], key: &dyn Fn(&T) -> u64, mut root: usize) {
    let greater = |items: &[T], a: usize, b: usize| key(&items[a]) > key(&items[b]);
    loop {
        let mut child = 2 * root + 1;
        if child + 1 < items.len() && greater(items, child + 1, child) {
            child += 1;
        }
        if child >= items.len() || !greater(items, child, root) {
            return;
        }
        items.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn items_are_in_order() {
        for len in [0, 1, 2, 3, 10, 100] {
            let mut items: Vec<u64> = (0..len).map(|i| i * 37 % 11).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_by_key(&mut items, &|item| *item);
            assert_eq!(items, expected);
        }
    }
}
