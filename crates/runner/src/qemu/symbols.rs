//! Maps addresses to functions, using the symbols in an ELF file.

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// The functions in a program: address, size and name. Assembly labels have no size.
#[derive(Clone, Debug, Default)]
pub struct Symbols(Vec<(u64, u64, String)>);

impl Symbols {
    /// Returns the functions in the ELF file `elf`, or none if it cannot be parsed.
    pub fn of(elf: &[u8]) -> Self {
        let Ok(file) = object::File::parse(elf) else {
            return Self::default();
        };
        let function = |symbol: object::Symbol<'_, '_>| {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let name = symbol.name().ok()?;
            // Assembly labels have no type. `$x` and similar symbols mark the start of code.
            let is_function = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown)
                && section.kind() == SectionKind::Text
                && !name.is_empty()
                && !name.starts_with('$');
            // The `#` flag omits the hash that distinguishes symbols with the same name.
            let name = format!("{:#}", rustc_demangle::demangle(name));
            is_function.then_some((symbol.address(), symbol.size(), name))
        };
        Self(file.symbols().filter_map(function).collect()).and(Self::default())
    }

    /// Returns the address of the variable `name`, which is qualified by its innermost module, in
    /// the ELF file `elf`.
    pub fn variable(elf: &[u8], name: &str) -> Option<u64> {
        let file = object::File::parse(elf).ok()?;
        let is_named = |symbol: &object::Symbol<'_, '_>| {
            let is_called = |symbol_name: &str| {
                let symbol_name = rustc_demangle::demangle(symbol_name);
                format!("{symbol_name:#}").ends_with(name)
            };
            symbol.kind() == SymbolKind::Data && symbol.name().is_ok_and(is_called)
        };
        file.symbols().find(is_named).map(|symbol| symbol.address())
    }

    /// Returns these functions together with those of another program at different addresses.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        // If several symbols share an address, the function is sorted last so that a lookup finds
        // it.
        self.0.sort();
        self
    }

    /// Returns the function at `address`, and the offset within it.
    pub fn at(&self, address: u64) -> Option<String> {
        let behind = self.0.partition_point(|symbol| symbol.0 <= address);
        let (begin, size, name) = self.0.get(behind.checked_sub(1)?)?;
        match address - begin {
            0 => Some(name.clone()),
            into if *size > 0 && into >= *size => None,
            into => Some(format!("{name}+{into:#x}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_at_an_address() {
        let symbol = |address, size, name: &str| Symbols(vec![(address, size, name.to_owned())]);
        let symbols = symbol(0x200, 0x10, "function").and(symbol(0x100, 0, "label"));
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
