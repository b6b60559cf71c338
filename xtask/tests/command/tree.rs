//! `cargo xtask tree from-acpi`.

use test_support::acpi_dump::acpi_dump;

use crate::acpi_tables::tables;
use crate::support::PROGRAM;
use crate::support::packages::payload;
use crate::support::scratch::Scratch;

/// The folder of tables has the same layout as on Linux: `data` contains no tables, but `dynamic`
/// does.
#[test]
fn a_folder_of_acpi_tables_becomes_a_tree() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("payload.bin", &payload());
    let [first, rest @ ..] = &tables()[..] else {
        panic!("no tables");
    };
    scratch.write("acpi/data/BERT", "no table");
    scratch.write("acpi/dynamic/SSDT1", first);
    for (number, table) in rest.iter().enumerate() {
        scratch.write(&format!("acpi/{number}"), table);
    }
    let (code, source, stderr) = scratch.called("tree from-acpi acpi");
    assert_eq!(code, 0, "{stderr}");
    assert!(source.contains("cpu@10000 {"), "{source}");
    assert!(
        stderr.contains("xtask: found 4 CPUs, GICv3, 0 idle states; console pl011 at "),
        "{stderr}"
    );
    scratch.ours("tree from-acpi acpi --memory 0x40000000+0x40000000 -o acpi.dtb");
    scratch.ours("image --base payload.bin --dtb acpi.dtb -o bl33.bin");
    scratch.write("acpi/0", &rest[0][..40]);
    scratch.refuses("tree from-acpi acpi", "acpi/0");
}

/// Messages name the line at which a table starts in the dump.
#[test]
fn a_dump_of_acpi_tables_becomes_a_tree() {
    let scratch = Scratch::new(PROGRAM);
    let mut tables = tables();
    scratch.write("dump.txt", acpi_dump(&tables).as_bytes());
    let (code, source, stderr) = scratch.called("tree from-acpi dump.txt");
    assert_eq!(code, 0, "{stderr}");
    assert!(source.contains("cpu@10000 {"), "{source}");
    assert!(stderr.contains("xtask: found 4 CPUs"), "{stderr}");
    scratch.refuses(
        "tree from-acpi dump.txt -o dump.txt",
        "the input file for FILE",
    );
    tables[1][60] ^= 1;
    let dump = acpi_dump(&tables);
    scratch.write("dump.txt", dump.as_bytes());
    let first_line = dump.lines().position(|line| line.starts_with("APIC"));
    let place = format!(
        "APIC (dump.txt:{}), offset 0x9: ",
        first_line.expect("a table") + 1
    );
    scratch.refuses("tree from-acpi dump.txt", &place);
    scratch.write("dump.txt", &dump.as_bytes()[..dump.len() - 400]);
    scratch.refuses("tree from-acpi dump.txt", "PPTT: ");
}
