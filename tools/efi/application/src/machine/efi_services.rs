//! EFI boot services and tables (UEFI specification 2.10), and the heap. All heap pages are
//! allocated from EFI once, so that later heap allocations do not change the memory map.

use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicPtr, Ordering};

use device_tree::acpi::Memory;
use hardware::board::Region;
use psci_bench_efi::memory_map::readable;
use sync::Heap;
use uefi_raw::protocol::loaded_image::LoadedImageProtocol;
use uefi_raw::protocol::shell_params::ShellParametersProtocol;
use uefi_raw::table::boot::{AllocateType, BootServices, MemoryDescriptor, MemoryType, PAGE_SIZE};
use uefi_raw::table::system::SystemTable;
use uefi_raw::{Guid, Handle, Status, guid};

/// The configuration table that contains a flattened device tree.
pub const DEVICE_TREE: Guid = guid!("b1b621d5-f19c-41a5-830b-d9152c69aae0");
/// The configuration table that contains the ACPI RSDP, for ACPI 2.0 and later.
pub const RSDP: Guid = guid!("8868e871-e4f1-11d3-bc22-0080c73c8881");
/// The number of extra descriptors to allow for in a memory map buffer.
const SPARE_DESCRIPTORS: usize = 64;
/// The maximum number of characters in a shell argument.
const ARGUMENT_MAX: usize = 4096;
/// The time for which a message is displayed if there is no shell, in microseconds.
const MESSAGE_US: usize = 5_000_000;
/// The maximum number of attempts to exit boot services. An attempt fails if the memory map has
/// changed since it was read.
const EXITS: usize = 8;

/// The heap size: enough for two modified copies of a maximum-size device tree with
/// [`device_tree::ITEMS_MAX`] nodes and properties.
const HEAP_SIZE: usize = 48 << 20;

#[global_allocator]
static HEAP: Heap = Heap::new(|| true);

/// The system table, which is null after ExitBootServices, and this image's handle.
static SYSTEM: AtomicPtr<SystemTable> = AtomicPtr::new(ptr::null_mut());
static IMAGE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Access to EFI. Holding a value proves that boot services have not been exited.
pub struct EfiServices {
    boot: &'static BootServices,
    /// The address and page count of each allocation that is freed if the payload is not started:
    /// the heap and the image.
    pages: [(u64, usize); 2],
}

/// The result of the main function.
pub enum MainResult {
    /// Returns with this status. Boot services may have been exited, so no pages are freed.
    Returned(Status),
    /// The payload is not started, and control returns to EFI.
    Refused(EfiServices),
}

/// Memory that, according to the EFI memory map, may contain a device tree or ACPI tables. Excludes
/// this application's heap. Does not prove that the bytes at an address are such a table.
pub struct Readable {
    parts: Vec<Region>,
    heap: Region,
}

impl Memory<'static> for Readable {
    fn bytes(&self, base: u64, size: u64) -> Option<&'static [u8]> {
        let region = Region { base, size };
        let is_readable = self.parts.iter().any(|part| part.contains(&region));
        if base == 0 || !is_readable || self.heap.overlaps(&region) {
            return None;
        }
        let first = ptr::with_exposed_provenance(base as usize);
        // SAFETY: the range lies in one of `parts`, which are in use and identity-mapped by EFI. It
        // does not overlap the heap, and the image's pages were free when `parts` was created, so
        // this application does not write to any of it.
        Some(unsafe { slice::from_raw_parts(first, size as usize) })
    }
}

/// A memory map, and the key that ExitBootServices uses to check that the map is current.
pub struct MemoryMap {
    pub descriptors: Vec<MemoryDescriptor>,
    key: usize,
}

/// Proof that boot services have been exited, together with the last memory map.
pub struct BootServicesExited(pub Vec<MemoryDescriptor>);

fn check_status(status: Status) -> Result<(), Status> {
    match status {
        Status::SUCCESS => Ok(()),
        status => Err(status),
    }
}

impl EfiServices {
    /// Stores the image handle and the system table.
    ///
    /// # Safety
    /// Both arguments must be those passed to the image's entry point.
    pub unsafe fn new(image: Handle, system: *const SystemTable) -> Self {
        SYSTEM.store(system.cast_mut(), Ordering::Relaxed);
        IMAGE.store(image, Ordering::Relaxed);
        // SAFETY: the caller guarantees that the table is valid until ExitBootServices.
        let table = unsafe { &*system };
        // SAFETY: the table's boot services pointer is valid for as long as the table is.
        let boot = unsafe { &*table.boot_services };
        let pages = [(0, 0); 2];
        Self { boot, pages }
    }

    /// Allocates memory for the heap, which must not be used before this call.
    pub fn set_heap(&mut self) -> Result<(), Status> {
        let base = self.allocate(0, HEAP_SIZE)? as usize;
        let first: *mut MaybeUninit<u8> = ptr::with_exposed_provenance_mut(base);
        // SAFETY: only this application uses the pages, and EFI identity-maps memory.
        HEAP.add(unsafe { slice::from_raw_parts_mut(first, HEAP_SIZE) });
        Ok(())
    }

    /// Allocates pages for `size` bytes at any address, and returns that address.
    fn allocate(&mut self, slot: usize, size: usize) -> Result<u64, Status> {
        let mut base = 0;
        let count = size.div_ceil(PAGE_SIZE);
        // SAFETY: the last argument points to valid storage for the address.
        check_status(unsafe {
            (self.boot.allocate_pages)(
                AllocateType::ANY_PAGES,
                MemoryType::LOADER_DATA,
                count,
                &raw mut base,
            )
        })?;
        self.pages[slot] = (base, count);
        Ok(base)
    }

    /// Allocates at least `size` bytes of zeroed memory for the image, in whole pages. The pages
    /// are freed if the payload is not started.
    pub fn take(&mut self, size: usize) -> Result<&'static mut [u8], Status> {
        let bytes: *mut u8 = ptr::with_exposed_provenance_mut(self.allocate(1, size)? as usize);
        let (_, count) = self.pages[1];
        let allocated = count * PAGE_SIZE;
        // SAFETY: the allocation is `allocated` bytes long and has no other user, and EFI
        // identity-maps memory.
        unsafe { ptr::write_bytes(bytes, 0, allocated) };
        // SAFETY: as above, and all `allocated` bytes are initialized.
        Ok(unsafe { slice::from_raw_parts_mut(bytes, allocated) })
    }

    /// Frees all pages, which returns all memory to EFI.
    ///
    /// # Safety
    /// After this call, values on the heap and memory returned by [`EfiServices::take`] must not be
    /// used, and nothing may be allocated.
    pub unsafe fn give_back(self) {
        for (base, count) in self.pages {
            if count > 0 {
                // SAFETY: `allocate` returned these pages, and the caller guarantees that they are
                // no longer in use.
                let _ = unsafe { (self.boot.free_pages)(base, count) };
            }
        }
    }

    /// Returns the memory in `map` that may contain a device tree or ACPI tables. The image's pages
    /// must not have been allocated yet.
    pub fn readable(&self, map: &MemoryMap) -> Readable {
        let (base, _) = self.pages[0];
        Readable {
            parts: readable(&map.descriptors),
            heap: Region {
                base,
                size: HEAP_SIZE as u64,
            },
        }
    }

    /// Returns the address of the `wanted` configuration table.
    pub fn configuration_table(&self, wanted: Guid) -> Option<u64> {
        let system = system()?;
        let count = system.number_of_configuration_table_entries;
        // SAFETY: the system table's pointer is null or valid.
        let first = unsafe { system.configuration_table.as_ref() }?;
        // SAFETY: the configuration table has `count` entries.
        let tables = unsafe { slice::from_raw_parts(first, count) };
        let table = tables.iter().find(|table| table.vendor_guid == wanted);
        table.map(|table| table.vendor_table.expose_provenance() as u64)
    }

    /// Returns the `wanted` interface of this image.
    ///
    /// # Safety
    /// `T` must be the interface type for this GUID.
    unsafe fn protocol<T>(&self, wanted: &Guid) -> Option<&T> {
        let mut interface: *mut c_void = ptr::null_mut();
        let image = IMAGE.load(Ordering::Relaxed);
        // SAFETY: the last argument points to valid storage for the interface address.
        check_status(unsafe { (self.boot.handle_protocol)(image, wanted, &raw mut interface) })
            .ok()?;
        // SAFETY: the caller guarantees that the type is correct, and the interface exists for as
        // long as the image does.
        unsafe { interface.cast::<T>().as_ref() }
    }

    /// Returns the load options.
    pub fn load_options(&self) -> &[u8] {
        // SAFETY: the GUID matches the type.
        let image = unsafe { self.protocol::<LoadedImageProtocol>(&LoadedImageProtocol::GUID) };
        match image {
            Some(image) if !image.load_options.is_null() => {
                let first = image.load_options.cast::<u8>();
                // SAFETY: the load options are this many bytes long and exist for as long as the
                // image does.
                unsafe { slice::from_raw_parts(first, image.load_options_size as usize) }
            }
            _ => &[],
        }
    }

    /// Returns the arguments parsed by the EFI shell, without the program name, or None if the
    /// application was not started by the shell. Each argument is a UCS-2 string.
    pub fn shell_arguments(&self) -> Option<Vec<Vec<u16>>> {
        let guid = ShellParametersProtocol::GUID;
        // SAFETY: the GUID matches the type.
        let shell = unsafe { self.protocol::<ShellParametersProtocol>(&guid) }?;
        if shell.argv.is_null() {
            return Some(Vec::new());
        }
        // SAFETY: `argv` points to `argc` arguments.
        let all = unsafe { slice::from_raw_parts(shell.argv, shell.argc) };
        let text = |first_unit: &*const u16| {
            let mut units = Vec::new();
            for at in 0..ARGUMENT_MAX {
                // SAFETY: each argument ends with a NUL, which has not been reached yet.
                let unit = unsafe { first_unit.add(at) };
                // SAFETY: as above, and UCS-2 characters are 2-byte aligned.
                match unsafe { unit.read() } {
                    0 => break,
                    unit => units.push(unit),
                }
            }
            units
        };
        Some(all.iter().skip(1).map(text).collect())
    }

    /// Reads the memory map into heap memory, so that reading the map does not change it.
    pub fn memory_map(&self) -> Result<MemoryMap, Status> {
        let mut buffer: Vec<u64> = Vec::new();
        let mut key = 0;
        let mut step = 0;
        let mut version = 0;
        // The first call returns the sizes. More descriptors may be added before the second call.
        for is_last in [false, true] {
            let mut size = buffer.len() * size_of::<u64>();
            // SAFETY: the buffer is `size` bytes long and 8-byte aligned; the other pointers are
            // valid.
            let status = unsafe {
                (self.boot.get_memory_map)(
                    &raw mut size,
                    buffer.as_mut_ptr().cast(),
                    &raw mut key,
                    &raw mut step,
                    &raw mut version,
                )
            };
            step = step.max(size_of::<MemoryDescriptor>());
            match status {
                Status::SUCCESS => {
                    let first = buffer.as_ptr().cast::<u8>();
                    let descriptor = |index: usize| {
                        let at = first.wrapping_add(index * step).cast::<MemoryDescriptor>();
                        // SAFETY: EFI wrote `size` bytes of descriptors, `step` bytes apart. The
                        // buffer is 8-byte aligned, but `step` may not be a multiple of 8.
                        unsafe { at.read_unaligned() }
                    };
                    let descriptors = (0..size / step).map(descriptor).collect();
                    return Ok(MemoryMap { descriptors, key });
                }
                Status::BUFFER_TOO_SMALL if !is_last => {}
                status => return Err(status),
            }
            let words = (size + SPARE_DESCRIPTORS * step).div_ceil(size_of::<u64>());
            buffer = vec![0; words];
        }
        Err(Status::BUFFER_TOO_SMALL)
    }

    /// Exits boot services. After an error, boot services may be partly shut down and can no longer
    /// be called.
    pub fn exit_boot_services(self) -> Result<BootServicesExited, Status> {
        let mut last = Status::SUCCESS;
        for _ in 0..EXITS {
            let map = self.memory_map()?;
            let image = IMAGE.load(Ordering::Relaxed);
            // SAFETY: only this application runs on this CPU, and `self` is consumed here.
            match check_status(unsafe { (self.boot.exit_boot_services)(image, map.key) }) {
                Ok(()) => {
                    SYSTEM.store(ptr::null_mut(), Ordering::Relaxed);
                    return Ok(BootServicesExited(map.descriptors));
                }
                Err(status) => last = status,
            }
        }
        Err(last)
    }

    /// Waits so that the user can read a message.
    pub fn wait(&self) {
        wait(self.boot);
    }
}

/// Returns the system table, or None after ExitBootServices.
pub(super) fn system() -> Option<&'static SystemTable> {
    // SAFETY: the pointer is null or comes from EFI; the table is valid until ExitBootServices,
    // which clears the pointer.
    unsafe { SYSTEM.load(Ordering::Relaxed).as_ref() }
}

fn wait(boot: &BootServices) {
    // SAFETY: this service does not take pointers.
    let _ = unsafe { (boot.stall)(MESSAGE_US) };
}

/// Exits the application after a panic, so that EFI returns to the program that started it. Returns
/// only if boot services have already been exited.
pub fn abort() {
    if let Some(system) = system() {
        let image = IMAGE.load(Ordering::Relaxed);
        // SAFETY: the system table's boot services pointer is valid for as long as the table is.
        let boot = unsafe { &*system.boot_services };
        wait(boot);
        // SAFETY: this is the image's own handle, and its stack is not used after this call.
        let _ = unsafe { (boot.exit)(image, Status::ABORTED, 0, ptr::null_mut()) };
    }
}
