//! Words for one thing and for several.

/// Returns `what` for this number of them.
pub(crate) fn plural(count: usize, what: &str) -> String {
    let ending = match count {
        1 => "",
        _ if what.ends_with('h') => "es",
        _ => "s",
    };
    format!("{what}{ending}")
}

/// Returns a count of things: `1 CPU`, `2 CPUs`.
pub(crate) fn many(count: usize, what: &str) -> String {
    format!("{count} {}", plural(count, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_several() {
        assert_eq!(many(0, "flush"), "0 flushes");
        assert_eq!(many(1, "flush"), "1 flush");
        assert_eq!(many(2, "regression"), "2 regressions");
    }
}
