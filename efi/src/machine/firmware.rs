//! EFI's boot services and tables (UEFI specification 2.10).

use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::fmt;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicPtr, Ordering};

use device_tree::acpi::Memory;
use psci_bench::board::Region;
use psci_bench_efi::memory_map::{self, DESCRIPTOR, Descriptor};
use uefi_raw::protocol::loaded_image::LoadedImageProtocol;
use uefi_raw::protocol::shell_params::ShellParametersProtocol;
use uefi_raw::table::boot::{AllocateType, BootServices, MemoryType};
use uefi_raw::table::system::SystemTable;
use uefi_raw::{Guid, Handle, Status, guid};

use super::heap::{self, HEAP_SIZE};

/// Size of a page of EFI's.
pub const PAGE: usize = 4096;
/// The configuration table that is a flattened device tree.
pub const DEVICE_TREE: Guid = guid!("b1b621d5-f19c-41a5-830b-d9152c69aae0");
/// The configuration table that is ACPI's RSDP, from ACPI 2.0 on.
pub const RSDP: Guid = guid!("8868e871-e4f1-11d3-bc22-0080c73c8881");
/// Descriptors for which a buffer has room beyond those that there are.
const SPARE_DESCRIPTORS: usize = 64;
/// The most characters of an argument from the shell.
const ARGUMENT_MAX: usize = 4096;

/// The system table until ExitBootServices; the panic handler prints by it.
static SYSTEM: AtomicPtr<SystemTable> = AtomicPtr::new(ptr::null_mut());
/// This image's handle.
static IMAGE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// EFI, while its boot services can be called.
pub struct Firmware {
    image: Handle,
    system: &'static SystemTable,
    boot: &'static BootServices,
    /// Addresses and numbers of the pages that are given back where EFI goes on.
    pages: [(u64, usize); 2],
}

/// The memory that EFI's map says can be read.
pub struct Readable(Vec<Descriptor>);

impl Readable {
    /// Returns the memory of `map`, which must be EFI's.
    pub fn of(map: &RawMap) -> Self {
        Self(map.descriptors())
    }

    /// Returns the descriptors.
    pub fn map(&self) -> &[Descriptor] {
        &self.0
    }
}

impl Memory<'static> for Readable {
    fn bytes(&self, address: u64, size: u64) -> Option<&'static [u8]> {
        let region = Region {
            base: address,
            size,
        };
        let first = ptr::with_exposed_provenance(address as usize);
        // SAFETY: by EFI's map all of it is memory that can be read, EFI maps it to itself, and
        // nothing writes to tables while the application runs.
        let bytes = || unsafe { slice::from_raw_parts(first, size as usize) };
        memory_map::is_readable(&self.0, &region).then(bytes)
    }
}

/// A memory map as EFI wrote it.
#[derive(Default)]
pub struct RawMap {
    buffer: Vec<u64>,
    /// Bytes of the buffer in use.
    size: usize,
    descriptor_size: usize,
    key: usize,
}

impl RawMap {
    /// Returns the descriptors.
    pub fn descriptors(&self) -> Vec<Descriptor> {
        let bytes: Vec<u8> = self.buffer.iter().flat_map(|it| it.to_le_bytes()).collect();
        memory_map::parse(
            bytes.get(..self.size).unwrap_or_default(),
            self.descriptor_size,
        )
    }
}

impl Firmware {
    /// Takes the system table.
    ///
    /// # Safety
    /// Both arguments must be those of the image's entry point.
    pub unsafe fn new(image: Handle, system: *const SystemTable) -> Self {
        SYSTEM.store(system.cast_mut(), Ordering::Relaxed);
        IMAGE.store(image, Ordering::Relaxed);
        // SAFETY: by this function's contract the table is sound until ExitBootServices.
        let system = unsafe { &*system };
        // SAFETY: the table's pointer to the boot services is sound as long.
        let boot = unsafe { &*system.boot_services };
        Self {
            image,
            system,
            boot,
            pages: [(0, 0); 2],
        }
    }

    /// Takes memory for the heap, which nothing may use before.
    pub fn set_heap(&mut self) -> Result<(), Status> {
        let base = self.allocate(HEAP_SIZE / PAGE)?;
        // SAFETY: the pages are this application's alone, and EFI maps memory to itself.
        unsafe { heap::set(base as usize) };
        self.pages[0] = (base, HEAP_SIZE / PAGE);
        Ok(())
    }

    /// Takes `count` pages at any place, and returns their address.
    fn allocate(&self, count: usize) -> Result<u64, Status> {
        let mut base = 0;
        let kind = AllocateType::ANY_PAGES;
        // SAFETY: the last argument is a valid place for the address.
        let status = unsafe {
            (self.boot.allocate_pages)(kind, MemoryType::LOADER_DATA, count, &raw mut base)
        };
        match status {
            Status::SUCCESS => Ok(base),
            status => Err(status),
        }
    }

    /// Takes whole pages for `size` bytes, zeroed; they are given back where EFI goes on.
    pub fn take(&mut self, size: usize) -> Result<&'static mut [u8], Status> {
        let count = size.div_ceil(PAGE);
        let base = self.allocate(count)?;
        self.pages[1] = (base, count);
        let bytes = ptr::with_exposed_provenance_mut::<u8>(base as usize);
        // SAFETY: so many bytes are there, which nothing else uses, and EFI maps memory to
        // itself.
        unsafe { ptr::write_bytes(bytes, 0, count * PAGE) };
        // SAFETY: as above; they have been written.
        Ok(unsafe { slice::from_raw_parts_mut(bytes, count * PAGE) })
    }

    /// Gives all pages back: nothing on the heap may be used afterwards.
    pub fn give_back(self) {
        for (base, count) in self.pages.into_iter().filter(|pages| pages.1 > 0) {
            // SAFETY: `allocate` returned these pages, and nothing uses them any more.
            let _ = unsafe { (self.boot.free_pages)(base, count) };
        }
    }

    /// Returns the configuration table `wanted`, by its address.
    pub fn configuration_table(&self, wanted: Guid) -> Option<u64> {
        let (first, count) = (
            self.system.configuration_table,
            self.system.number_of_configuration_table_entries,
        );
        let tables = match first.is_null() {
            true => &[],
            // SAFETY: the system table has this many entries there.
            false => unsafe { slice::from_raw_parts(first, count) },
        };
        let table = tables.iter().find(|table| table.vendor_guid == wanted);
        table.map(|table| table.vendor_table.expose_provenance() as u64)
    }

    /// Returns the interface `wanted` of this image.
    fn protocol<T>(&self, wanted: &Guid) -> Option<&T> {
        let mut interface: *mut c_void = ptr::null_mut();
        // SAFETY: the last argument is a valid place for the interface's address.
        let status = unsafe { (self.boot.handle_protocol)(self.image, wanted, &raw mut interface) };
        let is_there = status == Status::SUCCESS && !interface.is_null();
        // SAFETY: an interface of this GUID is a T, by the callers, and stays with the image.
        is_there.then(|| unsafe { &*interface.cast::<T>() })
    }

    /// Returns the bytes of the load options.
    pub fn load_options(&self) -> &[u8] {
        let Some(image) = self.protocol::<LoadedImageProtocol>(&LoadedImageProtocol::GUID) else {
            return &[];
        };
        let (first, size) = (image.load_options.cast::<u8>(), image.load_options_size);
        match first.is_null() {
            true => &[],
            // SAFETY: the load options have this many bytes, which stay with the image.
            false => unsafe { slice::from_raw_parts(first, size as usize) },
        }
    }

    /// Returns the arguments that EFI's shell read, without the program's name; None where
    /// the application was not begun by the shell. Each is text in UCS-2.
    pub fn shell_arguments(&self) -> Option<Vec<Vec<u16>>> {
        let shell = self.protocol::<ShellParametersProtocol>(&ShellParametersProtocol::GUID)?;
        // SAFETY: the shell has this many arguments there.
        let all = unsafe { slice::from_raw_parts(shell.argv, shell.argc) };
        let text = |first: &*const u16| {
            let mut units = Vec::new();
            for at in 0..ARGUMENT_MAX {
                // SAFETY: each argument ends with a NUL, and none was found so far.
                let unit = unsafe { first.add(at) };
                // SAFETY: as above; UCS-2 is aligned to 2.
                match unsafe { unit.read() } {
                    0 => break,
                    unit => units.push(unit),
                }
            }
            units
        };
        Some(all.iter().skip(1).map(text).collect())
    }

    /// Reads the memory map into memory of the heap, so that reading does not change it.
    pub fn memory_map(&self) -> Result<RawMap, Status> {
        let mut map = RawMap::default();
        // The first call finds the sizes; descriptors may be added before the second.
        for is_last in [false, true] {
            let (mut version, buffer) = (0, map.buffer.as_mut_ptr().cast());
            map.size = map.buffer.len() * size_of::<u64>();
            // SAFETY: the buffer has `size` bytes and is aligned to 8; the other arguments are
            // valid places.
            let status = unsafe {
                (self.boot.get_memory_map)(
                    &raw mut map.size,
                    buffer,
                    &raw mut map.key,
                    &raw mut map.descriptor_size,
                    &raw mut version,
                )
            };
            match status {
                Status::SUCCESS => return Ok(map),
                Status::BUFFER_TOO_SMALL if !is_last => {}
                status => return Err(status),
            }
            let spare = SPARE_DESCRIPTORS * map.descriptor_size.max(DESCRIPTOR);
            map.buffer = vec![0; (map.size + spare).div_ceil(size_of::<u64>())];
        }
        Err(Status::BUFFER_TOO_SMALL)
    }

    /// Ends the boot services, if `map` is still the memory map.
    pub fn exit(&self, map: &RawMap) -> Result<(), Status> {
        // SAFETY: nothing but this application runs on this CPU, and its callers call no
        // service after a success.
        match unsafe { (self.boot.exit_boot_services)(self.image, map.key) } {
            Status::SUCCESS => {
                SYSTEM.store(ptr::null_mut(), Ordering::Relaxed);
                Ok(())
            }
            status => Err(status),
        }
    }

    /// Waits for so many seconds.
    pub fn wait(&self, seconds: usize) {
        // SAFETY: a service without pointers.
        let _ = unsafe { (self.boot.stall)(seconds * 1_000_000) };
    }
}

/// Returns the system table, until ExitBootServices.
fn system() -> Option<&'static SystemTable> {
    // SAFETY: the pointer is null or EFI's, and the table is sound until ExitBootServices, which
    // clears the pointer.
    unsafe { SYSTEM.load(Ordering::Relaxed).as_ref() }
}

/// Ends the application by a panic: EFI goes on with the program that began it. Returns only
/// after ExitBootServices.
pub fn abort() {
    if let Some(system) = system() {
        let image = IMAGE.load(Ordering::Relaxed);
        // SAFETY: the system table's pointer to the boot services is sound as long as the table.
        let boot = unsafe { &*system.boot_services };
        // SAFETY: the image's own handle; its stack is not used after this call.
        let _ = unsafe { (boot.exit)(image, Status::ABORTED, 0, ptr::null_mut()) };
    }
}

/// EFI's console; prints nothing after ExitBootServices.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let console = system().map_or(ptr::null_mut(), |system| system.stdout);
        // SAFETY: the system table's pointer to the console is null or sound as long as the table.
        let Some(output) = (unsafe { console.as_ref() }) else {
            return Ok(());
        };
        let put = |unit: u16| {
            let text = [unit, 0];
            // SAFETY: the console is the one that the function is of, and the text ends with a
            // NUL.
            let _ = unsafe { (output.output_string)(console, text.as_ptr()) };
        };
        for unit in text.encode_utf16() {
            if unit == u16::from(b'\n') {
                put(b'\r'.into());
            }
            put(unit);
        }
        Ok(())
    }
}

/// Prints a line on EFI's console.
macro_rules! print_line {
    ($($arguments:tt)*) => {{
        use core::fmt::Write as _;
        // The console never fails.
        let _ = writeln!($crate::machine::firmware::Console, $($arguments)*);
    }};
}
pub(crate) use print_line;
