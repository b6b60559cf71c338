//! The AML namespace, limited to what idle states need: devices, hardware IDs, integers, packages
//! and the `_LPI` and `_OSC` methods (ACPI 6.5, sections 5.3 and 20.2.5).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::aml::{Name, Segment, Stream, Value};
use super::opcodes::Kind;
use super::table::{AcpiTable, HEADER_SIZE};
use super::tables::Tables;

/// The maximum nesting depth of term lists.
const DEPTH_MAX: usize = 16;
/// The maximum number of segments in a path.
const PATH_MAX: usize = 32;
/// The maximum number of objects. The largest known DSDTs define a few thousand.
const OBJECTS_MAX: usize = 16384;

/// Opcodes of blocks that can contain idle states.
const SCOPE: u16 = 0x10;
const METHOD: u16 = 0x14;
const DEVICE: u16 = 0x5b82;
const PROCESSOR: u16 = 0x5b83;
/// The opcode of a declaration of a value.
const NAME: u16 = 0x08;

/// Values with these names are kept. Integers and packages are also kept because `_LPI` can refer
/// to them.
const KEPT_VALUES: [&Segment; 4] = [b"_HID", b"_LPI", b"_STA", b"_UID"];
/// Methods with these names are kept.
const KEPT_METHODS: [&Segment; 2] = [b"_LPI", b"_OSC"];

/// An object's absolute path.
pub type ObjectPath = Vec<Segment>;

/// An object in the namespace.
#[derive(Debug)]
pub enum Object<'m> {
    /// A device, or a scope whose type does not matter.
    Device,
    /// An object declared with `Processor`, which ACPI 6.0 deprecates, and its processor ID.
    Processor(u8),
    /// A named value.
    Value(Value<'m>),
    /// The terms of a method.
    Method(Stream<'m>),
}

/// The objects in all tables.
#[derive(Debug, Default)]
pub struct Namespace<'m> {
    objects: BTreeMap<ObjectPath, Object<'m>>,
    /// The first reason why objects of the current table may be missing, with its table offset.
    first_fault: Option<(usize, Fault)>,
    /// The code skipped in the current table.
    skipped: Vec<SkippedCode>,
}

/// The terms of one opcode that were skipped.
#[derive(Debug)]
struct SkippedCode {
    name: &'static str,
    /// The table offset of the first one.
    at: usize,
    count: usize,
}

/// A reason why objects may be missing.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The end of a term is unknown, or a term is malformed.
    Unreadable,
    /// A block that depends on a condition contains CPUs or idle states.
    Conditional,
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
                Ok(table) => namespace.read_table(&table, notes),
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

    /// Reads a table. Adds a note about code, which is skipped. If objects may be missing, returns
    /// the first reason.
    fn read_table(&mut self, table: &AcpiTable<'m>, notes: &mut Vec<String>) -> Option<String> {
        self.first_fault = None;
        self.skipped.clear();
        self.list(Stream::new(table.bytes, HEADER_SIZE), &[], 0);
        if let Some(first) = self.skipped.first() {
            let kinds = self.skipped.iter();
            let counts: Vec<_> = kinds
                .map(|object| format!("{} {}", object.count, object.name))
                .collect();
            let message = format_args!("code outside methods is skipped: {}", counts.join(", "));
            notes.push(format!("{}", table.error(first.at, message)));
        }
        let (at, fault) = self.first_fault?;
        Some(match fault {
            Fault::Unreadable => {
                let opcode = Stream::new(table.bytes, at).opcode().unwrap_or(0);
                let message = format_args!(
                    "AML from here to the end of its block cannot be read (opcode {opcode:#04x})"
                );
                format!("{}", table.error(at, message))
            }
            Fault::Conditional => {
                let message = format_args!(
                    "the CPUs and idle states in this block are ignored, because its condition is \
                     not evaluated"
                );
                format!("{}", table.error(at, message))
            }
        })
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
                self.add_fault(at, Fault::Unreadable);
                return;
            }
        }
    }

    /// Reads or skips a term. Returns None if its end is unknown.
    fn term(&mut self, terms: &mut Stream<'m>, scope: &[Segment], depth: usize) -> Option<()> {
        let start = terms.clone();
        match terms.opcode()? {
            kind @ (SCOPE | DEVICE | PROCESSOR | METHOD) => {
                let body = terms.part()?;
                if self.block(kind, body, scope, depth).is_none() {
                    self.add_fault(start.at, Fault::Unreadable);
                }
            }
            NAME => self.named_value(terms, scope)?,
            // Alias: an existing name, followed by a new name for the same object
            0x06 => {
                let source = terms.name()?;
                let path = absolute(scope, &terms.name()?)?;
                if path.last() == Some(b"_LPI") {
                    self.add(path, Object::Value(Value::Name(source)));
                }
            }
            _ => {
                *terms = start;
                self.skip(terms)?;
            }
        }
        Some(())
    }

    /// Reads the declaration of a named value, after its opcode.
    fn named_value(&mut self, terms: &mut Stream<'m>, scope: &[Segment]) -> Option<()> {
        let name = terms.name()?;
        let mut after = terms.clone();
        let Some(value) = after.value() else {
            // An expression is skipped as code.
            return terms.clone().skip_opcode().map(drop);
        };
        *terms = after;
        let last = name.segments.last();
        let is_kept = last.is_some_and(|segment| KEPT_VALUES.contains(&segment));
        if is_kept || matches!(value, Value::Integer(_) | Value::Package(_)) {
            self.add(absolute(scope, &name)?, Object::Value(value));
        }
        Some(())
    }

    /// Reads a block that can contain idle states.
    fn block(
        &mut self,
        kind: u16,
        mut body: Stream<'m>,
        scope: &[Segment],
        depth: usize,
    ) -> Option<()> {
        let name = body.name()?;
        if kind == SCOPE {
            let known = self.find(scope, &name).map(|(path, _)| path);
            let path = known.or_else(|| absolute(scope, &name))?;
            self.list(body, &path, depth + 1);
            return Some(());
        }
        let path = absolute(scope, &name)?;
        match kind {
            DEVICE => self.add(path.clone(), Object::Device),
            PROCESSOR => {
                let id = body.byte()?;
                // Skip the address and length of a register block.
                body.take(5)?;
                self.add(path.clone(), Object::Processor(id));
            }
            _ => {
                body.byte()?;
                return self.method(body, path);
            }
        }
        self.list(body, &path, depth + 1);
        Some(())
    }

    /// Reads a method, and the values that it declares before it does anything else.
    fn method(&mut self, mut body: Stream<'m>, path: ObjectPath) -> Option<()> {
        let is_kept = path.last().is_some_and(|name| KEPT_METHODS.contains(&name));
        if is_kept {
            self.add(path.clone(), Object::Method(body.clone()));
            while body.clone().opcode() == Some(NAME) {
                body.opcode()?;
                self.named_value(&mut body, &path)?;
            }
        }
        Some(())
    }

    /// Skips a term. Returns None if its end is unknown.
    fn skip(&mut self, terms: &mut Stream<'m>) -> Option<()> {
        let start = terms.clone();
        let opcode = terms.skip_opcode()?;
        let bytes = start.bytes.get(..terms.at - start.at)?;
        match opcode.kind {
            Kind::Declaration => {}
            // iasl puts declarations of external objects into such blocks.
            Kind::Conditional if start.is_never_run() => {}
            Kind::Conditional if has_cpus(bytes) => self.add_fault(start.at, Fault::Conditional),
            _ => self.count_skipped(opcode.name, start.at),
        }
        terms.skip_operands(opcode.operands);
        Some(())
    }

    fn count_skipped(&mut self, name: &'static str, at: usize) {
        let mut skipped = self.skipped.iter_mut();
        match skipped.find(|object| object.name == name) {
            Some(skipped) => skipped.count += 1,
            None => self.skipped.push(SkippedCode { name, at, count: 1 }),
        }
    }

    fn add_fault(&mut self, at: usize, fault: Fault) {
        self.first_fault.get_or_insert((at, fault));
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

    /// Returns a CPU's UID, which the MADT refers to; None unless it is a number.
    pub fn uid(&self, cpu: &[Segment]) -> Option<u64> {
        let processor_id = || match self.get(cpu)? {
            Object::Processor(id) => Some(u64::from(*id)),
            _ => None,
        };
        self.integer(cpu, *b"_UID").or_else(processor_id)
    }

    /// Returns the paths of all CPUs.
    pub fn cpus(&self) -> impl Iterator<Item = &[Segment]> {
        let objects = self.objects.iter();
        objects.filter_map(|(path, object)| match object {
            Object::Processor(_) => Some(path.as_slice()),
            Object::Value(Value::Text(b"ACPI0007")) => path.strip_suffix(&[*b"_HID"]),
            _ => None,
        })
    }
}

/// Returns a path for use in messages.
pub fn path_text(path: &[Segment]) -> String {
    let segments: Vec<_> = path
        .iter()
        .map(|segment| String::from_utf8_lossy(segment))
        .collect();
    format!("\\{}", segments.join("."))
}

/// Returns the absolute path of a name in a scope.
fn absolute(scope: &[Segment], name: &Name) -> Option<ObjectPath> {
    let kept = if name.is_absolute {
        0
    } else {
        scope.len().checked_sub(name.ups)?
    };
    let path = [scope.get(..kept)?, &name.segments].concat();
    (path.len() <= PATH_MAX).then_some(path)
}

/// Returns true if AML appears to declare CPUs or idle states.
fn has_cpus(aml: &[u8]) -> bool {
    let has = |name: &[u8]| aml.windows(name.len()).any(|bytes| bytes == name);
    has(b"_LPI") || has(b"ACPI0007") || has(b"ACPI0010")
}
