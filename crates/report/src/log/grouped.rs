//! Groups values by key.

/// Groups values by key, in order of first occurrence.
pub(crate) fn grouped<K: PartialEq, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut all: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match all.iter_mut().find(|it| it.0 == key) {
            Some(it) => it.1.push(value),
            None => all.push((key, vec![value])),
        }
    }
    all
}
