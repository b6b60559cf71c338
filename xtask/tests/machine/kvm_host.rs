//! The only program in the Linux that runs the payload as a guest. `cargo xtask test kvm` tests
//! what it does there. This tests that it can run there.

use std::fs;

use object::{Architecture, Object, ObjectKind};
use xtask::qemu::kvm_host;
use xtask::setup::workspace::Workspace;

#[test]
fn process_1_needs_nothing_but_itself() {
    let workspace = Workspace::find().expect("the repository");
    let program = kvm_host::build(&workspace).expect("it builds");
    let program = fs::read(program).expect("the program");
    let elf = object::File::parse(&*program).expect("an ELF file");
    assert_eq!(elf.architecture(), Architecture::Aarch64);
    assert_eq!(elf.kind(), ObjectKind::Executable);
    let libraries = elf.import_libraries().expect("a sound file");
    assert_eq!(libraries.count(), 0);
}
