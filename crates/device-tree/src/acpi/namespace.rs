//! The AML namespace, limited to what idle states need: devices, hardware IDs, packages and the
//! return values of `_LPI` methods (ACPI 6.5, sections 5.3 and 20.2.5).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::aml::{Name, Segment, Stream, Value};
use super::table::{AcpiTable, HEADER_SIZE};
use super::tables::Tables;

/// The maximum nesting depth of term lists.
const DEPTH_MAX: usize = 16;
/// The maximum number of segments in a path.
const PATH_MAX: usize = 32;
/// The maximum number of objects. The largest known DSDTs define a few thousand.
const OBJECTS_MAX: usize = 16384;

/// Values with these names are kept. Packages are also kept because `_LPI` can refer to them.
const KEPT: [&Segment; 4] = [b"_HID", b"_LPI", b"_STA", b"_UID"];

/// An object's absolute path.
pub type ObjectPath = Vec<Segment>;

/// An object in the namespace.
#[derive(Debug)]
pub enum Object<'m> {
    /// A device, or a scope whose type does not matter.
    Device,
    /// An object declared with `Processor`, which ACPI 6.0 deprecates.
    Processor,
    /// A named value, or the return value of an `_LPI` method.
    Value(Value<'m>),
}

/// The objects in all tables.
#[derive(Debug, Default)]
pub struct Namespace<'m> {
    objects: BTreeMap<ObjectPath, Object<'m>>,
    /// Table offset of the first unreadable term.
    first_fault: Option<usize>,
}

impl<'m> Namespace<'m> {
    /// Reads the DSDT and all SSDTs. If objects may be missing, adds the reasons to `notes`.
    pub fn read(tables: &Tables<'m>, notes: &mut Vec<String>) -> Self {
        let mut namespace = Self::default();
        for segment in [*b"_SB_", *b"_PR_"] {
            namespace.add([segment].to_vec(), Object::Device);
        }
        let dsdt = tables.all(*b"DSDT").take(1);
        for table in dsdt.chain(tables.all(*b"SSDT")) {
            let incomplete = match table.check() {
                Ok(table) => namespace.read_table(&table),
                Err(error) => Some(format!("{error}")),
            };
            if let Some(reason) = incomplete {
                notes.push(format!("{reason}: idle states may be missing"));
            }
        }
        if namespace.objects.len() >= OBJECTS_MAX {
            notes.push(format!(
                "the AML tables have more than {OBJECTS_MAX} objects: idle states may be missing"
            ));
        }
        namespace
    }

    /// Reads a table. If objects may be missing, returns the first reason.
    fn read_table(&mut self, table: &AcpiTable<'m>) -> Option<String> {
        self.first_fault = None;
        self.list(Stream::new(table.bytes, HEADER_SIZE), &[], 0);
        let at = self.first_fault?;
        let opcode = table.bytes.get(at).copied().unwrap_or(0);
        let message = format_args!(
            "AML from here to the end of its block cannot be read (opcode {opcode:#04x})"
        );
        Some(format!("{}", table.error(at, message)))
    }

    /// Reads a list of terms in `scope`, up to the first term that cannot be read.
    fn list(&mut self, mut terms: Stream<'m>, scope: &[Segment], depth: usize) {
        while !terms.is_empty() {
            let at = terms.at;
            let read = match depth {
                ..DEPTH_MAX => self.term(&mut terms, scope, depth),
                _ => None,
            };
            if read.is_none() {
                self.first_fault.get_or_insert(at);
                return;
            }
        }
    }

    fn term(&mut self, terms: &mut Stream<'m>, scope: &[Segment], depth: usize) -> Option<()> {
        let is_method = scope.last() == Some(b"_LPI");
        match terms.opcode()? {
            // Scope
            0x10 => {
                let mut body = terms.part()?;
                let name = body.name()?;
                let known = self.find(scope, &name).map(|(path, _)| path);
                let path = known.or_else(|| absolute(scope, &name))?;
                self.list(body, &path, depth + 1);
            }
            // Device, Processor
            kind @ 0x5b82..=0x5b83 => {
                let mut body = terms.part()?;
                let path = absolute(scope, &body.name()?)?;
                let object = match kind {
                    0x5b82 => Object::Device,
                    _ => {
                        body.take(6)?;
                        Object::Processor
                    }
                };
                self.add(path.clone(), object);
                self.list(body, &path, depth + 1);
            }
            // Name
            0x08 => {
                let path = absolute(scope, &terms.name()?)?;
                let value = terms.value()?;
                let is_kept = path.last().is_some_and(|name| KEPT.contains(&name));
                if is_kept || matches!(value, Value::Package(_)) {
                    self.add(path, Object::Value(value));
                }
            }
            // Method
            0x14 => {
                let mut body = terms.part()?;
                let path = absolute(scope, &body.name()?)?;
                body.byte()?;
                if path.last() == Some(b"_LPI") {
                    self.list(body, &path, depth + 1);
                }
            }
            // Return
            0xa4 if is_method => {
                let value = terms.value()?;
                self.add(scope.to_vec(), Object::Value(value));
            }
            // Alias: an existing name, followed by a new name for the same object
            0x06 => {
                let source = terms.name()?;
                let path = absolute(scope, &terms.name()?)?;
                if path.last() == Some(b"_LPI") {
                    self.add(path, Object::Value(Value::Name(source)));
                }
            }
            // The conditions of If, Else and While are not evaluated.
            0xa0..=0xa2 if !is_method => {
                let (at, part) = (terms.at, terms.part()?);
                let has = |name: &[u8]| part.bytes.windows(name.len()).any(|it| it == name);
                if has(b"_LPI") || has(b"ACPI0007") || has(b"ACPI0010") {
                    self.first_fault.get_or_insert(at - 1);
                }
            }
            opcode => skip(opcode, terms)?,
        }
        Some(())
    }

    /// Adds an object unless the path is already in use.
    fn add(&mut self, path: ObjectPath, object: Object<'m>) {
        if self.objects.len() < OBJECTS_MAX {
            self.objects.entry(path).or_insert(object);
        }
    }

    /// Resolves `name` in a scope. A name with a single segment is also looked up in the enclosing
    /// scopes (section 5.3).
    pub fn find(&self, scope: &[Segment], name: &Name) -> Option<(ObjectPath, &Object<'m>)> {
        let is_searched = !name.is_absolute && name.ups == 0 && name.segments.len() == 1;
        let last = if is_searched { 0 } else { scope.len() };
        (last..=scope.len()).rev().find_map(|length| {
            let path = absolute(scope.get(..length)?, name)?;
            let object = self.objects.get(&path)?;
            Some((path, object))
        })
    }

    /// Returns a package's elements. `value` is the package itself or the name of a package.
    pub fn package(&self, scope: &[Segment], value: &Value<'m>) -> Option<Stream<'m>> {
        match value {
            Value::Package(elements) => Some(elements.clone()),
            Value::Name(name) => match self.find(scope, name)?.1 {
                Object::Value(Value::Package(elements)) => Some(elements.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the object at a path.
    pub fn get(&self, path: &[Segment]) -> Option<&Object<'m>> {
        self.objects.get(path)
    }

    /// Returns the value of the object called `name` in a device, if it is an integer.
    pub fn integer(&self, device: &[Segment], name: Segment) -> Option<u64> {
        match self.get(&[device, &[name]].concat())? {
            Object::Value(Value::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns the paths of all CPUs.
    pub fn cpus(&self) -> impl Iterator<Item = &[Segment]> {
        self.objects
            .iter()
            .filter_map(|(path, object)| match object {
                Object::Processor => Some(path.as_slice()),
                Object::Value(Value::Text(b"ACPI0007")) => path.strip_suffix(&[*b"_HID"]),
                _ => None,
            })
    }
}

/// Returns the absolute path of a name in a scope.
fn absolute(scope: &[Segment], name: &Name) -> Option<ObjectPath> {
    let kept = match name.is_absolute {
        true => 0,
        false => scope.len().checked_sub(name.ups)?,
    };
    let path = [scope.get(..kept)?, &name.segments].concat();
    (path.len() <= PATH_MAX).then_some(path)
}

/// Skips the rest of an unused term.
fn skip(opcode: u16, terms: &mut Stream<'_>) -> Option<()> {
    // The number of values before the name, and the number of bytes and values after it.
    let (before, bytes, after) = match opcode {
        // Field, PowerResource, ThermalZone, IndexField, BankField
        0x5b81 | 0x5b84..=0x5b87 => return terms.part().map(drop),
        // Noop
        0xa3 => return Some(()),
        // Event, Mutex, External
        0x5b02 => (0, 0, 0),
        0x5b01 => (0, 1, 0),
        0x15 => (0, 2, 0),
        // OperationRegion, DataTableRegion
        0x5b80 => (0, 1, 2),
        0x5b88 => (0, 0, 3),
        // CreateField and its variants for one bit and for 1, 2, 4 and 8 bytes
        0x5b13 => (3, 0, 0),
        0x8a..=0x8d | 0x8f => (2, 0, 0),
        _ => return None,
    };
    for _ in 0..before {
        terms.value()?;
    }
    terms.name()?;
    terms.take(bytes)?;
    for _ in 0..after {
        terms.value()?;
    }
    Some(())
}
