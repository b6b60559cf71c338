//! Which function an address is in, by an ELF file's symbols.

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// The functions of a program, by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols(Vec<Symbol>);

#[derive(Clone, Debug)]
struct Symbol {
    address: u64,
    /// Where it ends, or its section, if the file does not say.
    end: u64,
    name: String,
}

impl Symbols {
    /// Those of the file `elf`; none where it cannot be understood.
    pub fn of(elf: &[u8]) -> Self {
        let Ok(file) = object::File::parse(elf) else {
            return Self::default();
        };
        let function = |symbol: object::Symbol<'_, '_>| {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let name = symbol.name().ok()?;
            // Assembly's labels have no kind. `$x` and the like mark where
            // code begins, and name nothing.
            let is_one = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown)
                && section.kind() == SectionKind::Text
                && !name.is_empty()
                && !name.starts_with('$');
            let address = symbol.address();
            let end = match symbol.size() {
                0 => section.address().saturating_add(section.size()),
                size => address.saturating_add(size),
            };
            is_one.then(|| {
                (
                    symbol.size(),
                    Symbol {
                        address,
                        end,
                        name: readable(name),
                    },
                )
            })
        };
        let mut symbols: Vec<_> = file.symbols().filter_map(function).collect();
        // Of those at one address a function comes last, and is found.
        symbols.sort_by_key(|(size, symbol)| (symbol.address, *size));
        Self(symbols.into_iter().map(|(_, symbol)| symbol).collect())
    }

    /// These, and those of a program that lies elsewhere.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        // Those at one address stay in their order.
        self.0.sort_by_key(|symbol| symbol.address);
        self
    }

    /// The function at `address`, with how far into it that is.
    pub fn at(&self, address: u64) -> Option<String> {
        let behind = self.0.partition_point(|symbol| symbol.address <= address);
        let symbol = self.0.get(behind.checked_sub(1)?)?;
        let into = address - symbol.address;
        match into {
            0 => Some(symbol.name.clone()),
            _ if address >= symbol.end => None,
            _ => Some(format!("{}+{into:#x}", symbol.name)),
        }
    }
}

/// What the older mangling has for characters that no symbol may have.
const ESCAPES: [(&str, &str); 8] = [
    ("$LT$", "<"),
    ("$GT$", ">"),
    ("$LP$", "("),
    ("$RP$", ")"),
    ("$RF$", "&"),
    ("$C$", ","),
    ("$u20$", " "),
    ("..", "::"),
];

/// `symbol` as its author wrote it, or nearly so. What is no name of Rust's
/// stays as it is.
fn readable(symbol: &str) -> String {
    let name = match (symbol.strip_prefix("_ZN"), symbol.strip_prefix("_R")) {
        (Some(mangled), _) => legacy(mangled),
        (_, Some(mangled)) => v0(mangled).join("::"),
        _ => String::new(),
    };
    if name.is_empty() {
        return symbol.to_owned();
    }
    name
}

/// The path in the older mangling: parts, each with its length before it, of
/// which the last is a hash.
fn legacy(mangled: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = mangled;
    while let Some((part, after)) = counted(rest) {
        parts.push(part);
        rest = after;
    }
    parts.pop();
    // An underscore stands before an escape that begins a part.
    let mut name = parts.join("::").replace("_$", "$");
    for (escape, text) in ESCAPES {
        name = name.replace(escape, text);
    }
    name
}

/// The names in a path in Rust's v0 mangling, without what tells apart those
/// that are called alike, and without types.
fn v0(mangled: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = mangled;
    while let Some(first) = rest.chars().next() {
        if let Some((part, after)) = counted(rest) {
            parts.push(part);
            rest = after;
        } else if matches!(first, 's' | 'B') {
            // A number in base 62, ended by an underscore.
            rest = rest.split_once('_').map_or("", |(_, after)| after);
        } else {
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    parts
}

/// The name that `text` begins with, its length before it, and what follows.
fn counted(text: &str) -> Option<(&str, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (length, rest) = text.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(list: &[(u64, u64, &str)]) -> Symbols {
        let symbol = |&(address, end, name): &(u64, u64, &str)| Symbol {
            address,
            end,
            name: name.to_owned(),
        };
        Symbols(list.iter().map(symbol).collect())
    }

    #[test]
    fn the_function_at_an_address() {
        let symbols =
            symbols(&[(0x200, 0x210, "function")]).and(symbols(&[(0x100, 0x1000, "label")]));
        assert_eq!(symbols.at(0xff), None);
        assert_eq!(symbols.at(0x100).as_deref(), Some("label"));
        assert_eq!(symbols.at(0x1fc).as_deref(), Some("label+0xfc"));
        assert_eq!(symbols.at(0x20c).as_deref(), Some("function+0xc"));
        assert_eq!(symbols.at(0x210), None);
        assert_eq!(Symbols::of(b"no ELF file").at(0), None);
    }

    #[test]
    fn names() {
        for (symbol, name) in [
            ("suspend_smc", "suspend_smc"),
            (
                "_ZN10psci_bench5stats5Clock2ns17hf94d3515604da171E",
                "psci_bench::stats::Clock::ns",
            ),
            (
                "_ZN10psci_bench7machine4wait47_$LT$impl$u20$psci_bench..machine..cpu..Env$GT$9nap_until17h11a22ba5054d3cefE",
                "psci_bench::machine::wait::<impl psci_bench::machine::cpu::Env>::nap_until",
            ),
            (
                "_RNvNtCs3g5Gb6bJpu0_4core9panicking9panic_fmt",
                "core::panicking::panic_fmt",
            ),
            (
                "_RNvMsa_NtCs3g5Gb6bJpu0_4core3fmtNtB5_9Formatter3pad",
                "core::fmt::Formatter::pad",
            ),
            ("_ZN", "_ZN"),
            ("_ZN99short", "_ZN99short"),
            ("_R9999999999999999999999x", "_R9999999999999999999999x"),
            ("_Räs", "_Räs"),
        ] {
            assert_eq!(readable(symbol), name);
        }
    }
}
