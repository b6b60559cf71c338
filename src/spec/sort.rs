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
