//! Tests that the emulated Linux host for KVM guests can run its only program. The ignored tests in
//! `kvm` test what the program does.

use std::fs;

use guest::kvm_host;
use object::{Architecture, Object, ObjectKind};
use runner::setup::workspace::Workspace;

#[test]
fn process_1_needs_nothing_but_itself() {
    let workspace = Workspace::find().expect("the repository");
    let path = kvm_host::build(&workspace).expect("it builds");
    let program = fs::read(path).expect("the program");
    let elf = object::File::parse(&*program).expect("an ELF file");
    assert_eq!(elf.architecture(), Architecture::Aarch64);
    assert_eq!(elf.kind(), ObjectKind::Executable);
    let libraries = elf.import_libraries().expect("a valid file");
    assert_eq!(libraries.count(), 0);
}
