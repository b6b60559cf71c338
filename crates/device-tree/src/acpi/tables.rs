//! A machine's ACPI tables (ACPI 6.5, sections 5.2.5 to 5.2.8).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::FormatError;
use zerocopy::FromBytes as _;

use super::layouts::{FadtLong, FadtStart, Header, Rsdp};
use super::table::{AcpiTable, HEADER_SIZE, TableOrigin, checksum};
use crate::Result;

/// The maximum number of tables. Real machines have 10 to 40.
const TABLES_MAX: usize = 256;

/// Physical memory that may contain tables.
pub trait Memory<'m> {
    /// Returns `size` bytes at a physical address, or None if any of them cannot be read.
    fn bytes(&self, address: u64, size: u64) -> Option<&'m [u8]>;
}

/// A machine's tables.
///
/// Holding one proves that each table's header can be read. A table is checked only when it is
/// used.
#[derive(Clone, Debug)]
pub struct Tables<'m> {
    tables: Vec<AcpiTable<'m>>,
    /// Reasons why tables could not be found.
    pub(super) notes: Vec<String>,
}

impl<'m> Tables<'m> {
    /// Finds the tables through the RSDP at a physical address. The RSDP must be revision 2 or
    /// later.
    ///
    /// # Errors
    /// Returns an error if the RSDP or XSDT is malformed, or if there are more than 256 tables.
    pub fn find(memory: &impl Memory<'m>, rsdp: u64) -> Result<Self> {
        let wrong =
            |message: &str| FormatError::new(format_args!("RSDP (at {rsdp:#x}): {message}"));
        let unreadable = || wrong("not in readable memory");
        let size = size_of::<Rsdp>() as u64;
        let bytes = memory.bytes(rsdp, size).ok_or_else(unreadable)?;
        let root = Rsdp::ref_from_bytes(bytes).map_err(|_| unreadable())?;
        if root.signature != *b"RSD PTR " {
            return Err(wrong("does not start with \"RSD PTR \""));
        }
        if root.revision < 2 {
            let revision = root.revision;
            let message = format!("revision {revision} has no XSDT: use a device tree instead");
            return Err(wrong(&message));
        }
        if root.length.get() as usize != size_of::<Rsdp>() {
            return Err(wrong("the length is not 36 bytes"));
        }
        let (first, _) = bytes.split_at(core::mem::offset_of!(Rsdp, length));
        if checksum(first) != 0 || checksum(bytes) != 0 {
            return Err(wrong("a checksum is wrong"));
        }
        let address = root.xsdt.get();
        let xsdt = read(memory, address)
            .filter(|table| table.signature() == *b"XSDT")
            .ok_or_else(|| wrong(&format!("no XSDT at {address:#x}")))?
            .check()?;
        let (addresses, _) = xsdt.bytes.split_at(HEADER_SIZE).1.as_chunks();
        let mut list = Self::new(addresses.len())?;
        for address in addresses {
            list.add(memory, u64::from_le_bytes(*address), "XSDT");
        }
        if let Ok(Some(fadt)) = list.get(*b"FACP") {
            let long = fadt.read::<FadtLong>(0).map(|fadt| fadt.dsdt.get());
            let short = fadt.read::<FadtStart>(0).map(|fadt| fadt.dsdt.get().into());
            let mut addresses = [long, short].into_iter().flatten();
            if let Some(address) = addresses.find(|address| *address != 0) {
                list.add(memory, address, "FACP");
            }
        }
        Ok(list)
    }

    /// Creates the list from files that each contain one table, as in /sys/firmware/acpi/tables on
    /// Linux.
    ///
    /// # Errors
    /// Returns an error if a file is not a table, or if there are more than 256 files.
    pub fn of_files(files: &[&'m [u8]]) -> Result<Self> {
        let mut list = Self::new(files.len())?;
        for (bytes, number) in files.iter().zip(1..) {
            let have = bytes.len();
            if have < HEADER_SIZE {
                return Err(FormatError::new(format_args!(
                    "file {number}: {have} bytes, shorter than a table header; specify only ACPI \
                     tables"
                )));
            }
            list.tables
                .push(AcpiTable::new(bytes, TableOrigin::File(number)));
        }
        Ok(list)
    }

    fn new(count: usize) -> Result<Self> {
        if count > TABLES_MAX {
            return Err(FormatError::new(format_args!(
                "{count} ACPI tables, expected at most {TABLES_MAX}: use a device tree instead"
            )));
        }
        Ok(Self {
            tables: Vec::new(),
            notes: Vec::new(),
        })
    }

    fn add(&mut self, memory: &impl Memory<'m>, address: u64, by: &str) {
        match read(memory, address) {
            Some(table) => self.tables.push(table),
            None => self.notes.push(format!(
                "{by} lists a table at {address:#x}, which is not in readable memory"
            )),
        }
    }

    /// Returns all tables with this signature, unchecked.
    pub(super) fn all(&self, signature: [u8; 4]) -> impl Iterator<Item = AcpiTable<'m>> {
        let tables = self.tables.iter().copied();
        tables.filter(move |table| table.signature() == signature)
    }

    /// Checks and returns the first table with this signature.
    pub(super) fn get(&self, signature: [u8; 4]) -> Result<Option<AcpiTable<'m>>> {
        self.all(signature).next().map(AcpiTable::check).transpose()
    }

    /// Checks and returns the first table with this signature. If there is none, the error mentions
    /// `purpose`.
    pub(super) fn require(&self, signature: [u8; 4], purpose: &str) -> Result<AcpiTable<'m>> {
        let name = String::from_utf8_lossy(&signature);
        let missing = || {
            FormatError::new(format_args!(
                "no ACPI table {name}, which describes {purpose}: use a device tree instead"
            ))
        };
        self.get(signature)?.ok_or_else(missing)
    }
}

/// Reads the table at an address. If only its header can be read, returns the header.
fn read<'m>(memory: &impl Memory<'m>, address: u64) -> Option<AcpiTable<'m>> {
    let origin = TableOrigin::Address(address);
    let header = memory.bytes(address, HEADER_SIZE as u64)?;
    let length = u64::from(Header::ref_from_bytes(header).ok()?.length.get());
    let whole = if length >= HEADER_SIZE as u64 {
        memory.bytes(address, length)
    } else {
        None
    };
    Some(AcpiTable::new(whole.unwrap_or(header), origin))
}
