//! Boots that stop partway, with an image that prints boot marks. The last mark shows the stage
//! that the boot reached.

use std::time::Duration;

use follow::explain_marks;
use hardware::image::BootStage::{
    self, Board, Caches, CpuOn, Entry, Firmware, Mmu, Suspend, Trapped, Tree,
};
use hardware::image::ParameterBlock;
use runner::build::image::enable_boot_log;
use runner::qemu::run_spec::{Payload, RunSpec};

use crate::common;

/// `b .`
const STOP: [u8; 4] = 0x1400_0000_u32.to_le_bytes();

fn marking(mut image: Vec<u8>) -> Vec<u8> {
    enable_boot_log(&mut image).expect("a UART");
    image
}

/// Runs `image` with these `qemu` options until it exits or has been silent for too long. Expects
/// `last` to be the last stage marked, and the diagnosis to report it.
fn stops_at(image: Vec<u8>, options: &str, last: BootStage) {
    let spec = RunSpec {
        payload: Payload::Image(image),
        timeout: Duration::from_secs(3),
        ..common::spec(options, "")
    };
    let result = common::run_spec(&spec);
    let text = result.text();
    assert_eq!(BootStage::last_in(&text), Some(last), "{options}: {text}");
    let named = format!("the last boot mark is <{}>", last.letter());
    let said = result.diagnosis.or_else(|| explain_marks(&text));
    assert!(
        said.is_some_and(|diagnosis| diagnosis.contains(&named)),
        "{text}"
    );
}

fn patched(symbol: &str) -> Vec<u8> {
    let mut image = common::image(2, "iterations=1");
    image[common::offset_of(symbol)..][..STOP.len()].copy_from_slice(&STOP);
    marking(image)
}

#[test]
fn the_entry_code_marks_its_stages() {
    stops_at(patched("caches_are_off"), "--smp 2", Entry);
    stops_at(patched("cpu_setup"), "--smp 2", Caches);
}

#[test]
fn rejected_boot_stops_at_its_stage() {
    let bare = marking(common::image_of(None, 2));
    stops_at(bare, "--smp 2", Mmu);
    let unknown = marking(common::image(2, "nosuchkey=1"));
    stops_at(unknown, "--smp 2", Tree);
    // The tree describes a GICv3, but the machine has a GICv2.
    let other_gic = marking(common::image(2, "iterations=1"));
    stops_at(other_gic, "--smp 2 --gic 2", Firmware);
}

#[test]
fn query_that_never_returns_is_not_blamed_on_the_gic() {
    let image = marking(common::image(2, "iterations=1"));
    // PSCI_FEATURES.
    stops_at(image, "--smp 2 --fault smc-hang,arg=0xa", Board);
}

#[test]
fn a_cpu_that_never_arrives_leaves_the_mark_of_cpu_on() {
    let image = marking(common::image(2, "only=psci_version_parallel"));
    stops_at(image, "--smp 2 --fault cpu-on-lost", CpuOn);
}

/// Marks appear on separate lines and do not affect any results.
#[test]
fn a_good_boot_has_all_marks_in_order() {
    let plain = common::image(2, "iterations=2 warmup=0 only=susp_deep_serial");
    let run = |image| {
        let payload = Payload::Image(image);
        common::expect_pass(&RunSpec {
            payload,
            ..common::spec("--smp 2 --icount", "")
        })
    };
    let marked = run(marking(plain.clone()));
    let unmarked = run(plain);
    let marks = BootStage::ALL.map(|stage| marked.text.find(&format!("<{}>", stage.letter())));
    assert_eq!(marks[Trapped as usize], None);
    let printed = marks.iter().flatten();
    assert!(printed.clone().is_sorted(), "{marks:?}");
    assert_eq!(printed.count(), BootStage::COUNT - 1);
    assert_eq!(BootStage::last_in(&marked.text), Some(Suspend));
    assert_eq!(BootStage::last_in(&unmarked.text), None);
    assert_eq!(
        common::rt_instr(&marked.text),
        common::rt_instr(&unmarked.text)
    );
}

/// The CPU lacks these registers, so writing to them without a check has the same effect as a trap.
#[test]
fn trapped_writes_are_stepped_over_and_marked() {
    const NOP: [u8; 4] = 0xd503_201f_u32.to_le_bytes();
    let mut image = common::image(2, "iterations=1 warmup=0 only=susp_deep_serial");
    let writes = common::offset_of("extensions_start")..common::offset_of("extensions_end");
    let mut checks = 0;
    for word in image[writes].chunks_exact_mut(4) {
        let is_equal_branch = word[3] == 0x54 && word[0] & 0x1f == 0;
        if is_equal_branch {
            word.copy_from_slice(&NOP);
            checks += 1;
        }
    }
    assert_eq!(checks, 6);
    let ran = common::expect_pass(&RunSpec {
        payload: Payload::Image(marking(image)),
        ..common::spec("--smp 2", "")
    });
    let marks = ran.text.replace('\r', "");
    assert!(marks.contains("<M>\n<X>\n<T>"), "{}", ran.text);
}

#[test]
fn an_image_without_a_uart_takes_no_marks() {
    let mut file = common::image(2, "");
    let image_size = 1 << 20;
    let without = ParameterBlock {
        uart: None,
        ..ParameterBlock::read(&file).expect("a block")
    };
    without.write(&mut file, image_size).expect("a block");
    let error = enable_boot_log(&mut file).expect_err("no UART").to_string();
    assert!(error.contains("the image specifies no UART"), "{error}");
}
