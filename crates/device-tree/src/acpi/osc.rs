//! Whether `\\_SB._OSC` lets Linux use `_LPI` (ACPI 6.5, section 6.2.11.2).
//!
//! Linux asks for platform-coordinated idle states, and uses none of them unless `_OSC` returns
//! that bit as set (`osc_pc_lpi_support_confirmed` in its *drivers/acpi*).

use alloc::string::String;
use alloc::vec::Vec;

use super::aml::{Name, Stream, Value};
use super::namespace::{Namespace, Object};

/// The UUID of the platform-wide capabilities, 0811b06e-4a27-44f9-8d60-3cbbc22e7b48.
const PLATFORM: [u8; 16] = [
    0x6e, 0xb0, 0x11, 0x08, 0x27, 0x4a, 0xf9, 0x44, 0x8d, 0x60, 0x3c, 0xbb, 0xc2, 0x2e, 0x7b, 0x48,
];
/// The capability of platform-coordinated idle states.
const PLATFORM_COORDINATED: u64 = 1 << 7;
/// The offset of the capabilities in the buffer that the caller passes as the fourth argument.
const CAPABILITIES: u64 = 4;
const ARG3: u16 = 0x6b;
const AND: u16 = 0x7b;
const CREATE_DWORD_FIELD: u16 = 0x8a;
const IF: u16 = 0xa0;
const WHILE: u16 = 0xa2;

/// Returns the reason why Linux is expected to ignore all `_LPI` objects, if there is one.
pub fn why_unconfirmed(namespace: &Namespace<'_>) -> Option<String> {
    let reason = match namespace.get(&[*b"_SB_", *b"_OSC"]) {
        Some(Object::Method(terms)) if !contains(terms.bytes, &PLATFORM) => {
            "\\_SB._OSC does not contain the UUID of the platform-wide capabilities"
        }
        Some(Object::Method(terms)) if clears_capability(terms) => {
            "\\_SB._OSC may clear the bit of platform-coordinated idle states"
        }
        Some(_) => return None,
        None => "these tables have no \\_SB._OSC",
    };
    Some(alloc::format!(
        "{reason}: Linux then ignores _LPI, and uses none of these idle states"
    ))
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let mut windows = bytes.windows(wanted.len());
    windows.any(|window| window == wanted)
}

/// Returns true if the method contains an And that clears the bit in the capabilities. An And in an
/// If that never runs does not count: firmware turns features off in this way.
fn clears_capability(method: &Stream<'_>) -> bool {
    let terms = terms_that_can_run(method);
    let fields: Vec<Name> = terms.iter().filter_map(capabilities_field).collect();
    terms.iter().filter_map(cleared_bits).any(|(name, bits)| {
        let is_field = |field: &Name| field.segments == name.segments;
        bits & PLATFORM_COORDINATED != 0 && fields.iter().any(is_field)
    })
}

/// Returns the places in a method at which a term starts, up to what cannot be read. Operands are
/// among them.
fn terms_that_can_run<'m>(method: &Stream<'m>) -> Vec<Stream<'m>> {
    let mut found = Vec::new();
    let mut lists = Vec::from([method.clone()]);
    while let Some(mut terms) = lists.pop() {
        while !terms.is_empty() {
            let is_run = !terms.is_never_run();
            found.extend(is_run.then(|| terms.clone()));
            let mut ahead = terms.clone();
            let is_block = matches!(ahead.opcode(), Some(IF..=WHILE));
            if is_run && is_block {
                lists.extend(ahead.part());
            }
            if terms.skip_opcode().is_none() {
                break;
            }
        }
    }
    found
}

/// Returns the name of the field with the capabilities, if the term creates it.
fn capabilities_field(term: &Stream<'_>) -> Option<Name> {
    let mut operands = term.clone();
    if operands.opcode()? != CREATE_DWORD_FIELD || operands.opcode()? != ARG3 {
        return None;
    }
    match operands.value()? {
        Value::Integer(CAPABILITIES) => operands.name(),
        _ => None,
    }
}

/// Returns the name of a field and the bits that a term clears in it.
fn cleared_bits(term: &Stream<'_>) -> Option<(Name, u64)> {
    let mut operands = term.clone();
    if operands.opcode()? != AND {
        return None;
    }
    match (operands.value()?, operands.value()?) {
        (Value::Name(_), Value::Integer(kept)) | (Value::Integer(kept), Value::Name(_)) => {
            Some((operands.name()?, !kept))
        }
        _ => None,
    }
}
