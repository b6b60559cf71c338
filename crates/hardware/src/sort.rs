//! Sorting. Each type that the standard library sorts takes 2 KB or more of code; a heap sort takes
//! a tenth of that, and is fast enough between measurements.

/// Sorts `list` in place, by heap sort.
pub fn sort<T: Ord>(list: &mut [T]) {
    for root in (0..list.len() / 2).rev() {
        sift_down(list, root);
    }
    for end in (1..list.len()).rev() {
        list.swap(0, end);
        sift_down(&mut list[..end], 0);
    }
}

/// Moves the element at `place` down until none below it is greater, as in a heap.
fn sift_down<T: Ord>(heap: &mut [T], mut place: usize) {
    loop {
        let mut child = 2 * place + 1;
        if child >= heap.len() {
            return;
        }
        if child + 1 < heap.len() && heap[child] < heap[child + 1] {
            child += 1;
        }
        if heap[place] >= heap[child] {
            return;
        }
        heap.swap(place, child);
        place = child;
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn lists_of_any_length_and_order_are_sorted() {
        for len in 0..70u64 {
            // 7 divides 70, so that some elements are equal.
            for factor in [0, 1, 7, 31, 69] {
                let mut list: Vec<u64> = (0..len).map(|nth| nth * factor % 70).collect();
                let mut expected = list.clone();
                expected.sort_unstable();
                sort(&mut list);
                assert_eq!(list, expected);
            }
        }
    }
}
