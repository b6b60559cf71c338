//! The functions at addresses, by an ELF file's symbols.

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
    /// Returns those of the file `elf`; none where it cannot be understood.
    pub fn of(elf: &[u8]) -> Self {
        let Ok(file) = object::File::parse(elf) else {
            return Self::default();
        };
        let function = |symbol: object::Symbol<'_, '_>| {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let name = symbol.name().ok()?;
            // Labels of assembly have no kind. `$x` and the like mark where code begins.
            let is_function = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown)
                && section.kind() == SectionKind::Text
                && !name.is_empty()
                && !name.starts_with('$');
            let (address, size) = (symbol.address(), symbol.size());
            let end = match size {
                0 => section.address().saturating_add(section.size()),
                size => address.saturating_add(size),
            };
            // Without the hash that tells apart names that are alike.
            let name = format!("{:#}", rustc_demangle::demangle(name));
            is_function.then_some((size, Symbol { address, end, name }))
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

    /// Returns the function at `address`, with how far into it that is.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_at_an_address() {
        let symbols = |address, end, name: &str| {
            let name = name.to_owned();
            Symbols(vec![Symbol { address, end, name }])
        };
        let symbols = symbols(0x200, 0x210, "function").and(symbols(0x100, 0x1000, "label"));
        for (address, expected) in [
            (0xff, None),
            (0x100, Some("label")),
            (0x1fc, Some("label+0xfc")),
            (0x20c, Some("function+0xc")),
            (0x210, None),
        ] {
            assert_eq!(symbols.at(address).as_deref(), expected);
        }
        assert_eq!(Symbols::of(b"no ELF file").at(0), None);
    }
}
