//! License expressions in manifests.

/// The licenses that are accepted for code in a release, without further conditions.
const ACCEPTED: [&str; 7] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "MIT",
    "Unlicense",
];

/// Returns true if `expression`, an SPDX expression, can be satisfied using only accepted licenses.
/// As in cargo, `/` means `OR`.
pub(super) fn is_accepted(expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    // AND binds tighter than OR.
    is_any(&words)
}

fn is_any(words: &[&str]) -> bool {
    split(words, "OR").into_iter().any(is_all)
}

fn is_all(words: &[&str]) -> bool {
    split(words, "AND").into_iter().all(|words| match words {
        ["(", inner @ .., ")"] => is_any(inner),
        _ => ACCEPTED.contains(&&*words.join(" ")),
    })
}

/// Splits an expression at each `operator` outside parentheses.
fn split<'w, 'e>(words: &'w [&'e str], operator: &str) -> Vec<&'w [&'e str]> {
    let mut depth = 0;
    let at_operator = |word: &&str| {
        match *word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0 && *word == operator
    };
    words.split(at_operator).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_accepted_licenses_is_enough() {
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "(Apache-2.0 OR MIT) AND BSD-3-Clause",
            "MIT AND (GPL-3.0-only OR (BSD-2-Clause AND BSL-1.0))",
        ] {
            assert!(is_accepted(expression), "{expression}");
        }
        for expression in [
            "",
            "mit",
            "MPL-2.0",
            "MIT AND GPL-3.0-only",
            "GPL-2.0-only WITH LLVM-exception",
            "MIT AND",
            "(MIT",
            "MIT)",
            "(MIT OR Apache-2.0) AND (GPL-2.0-only OR MPL-2.0)",
        ] {
            assert!(!is_accepted(expression), "{expression}");
        }
    }
}
