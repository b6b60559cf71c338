use std::string::{String, ToString};

use super::key::*;
use super::plan::*;
use super::*;

fn refused(bootargs: &str) -> PlanError<'_> {
    Plan::parse(bootargs).expect_err(bootargs)
}

#[test]
fn words_for_linux_are_passed_over() {
    // The arguments that kvmtool makes of `lkvm run --kernel Image -p "iterations=3"`.
    let plan = Plan::parse(
        " console=ttyS0 rw rootflags=trans=virtio,version=9p2000.L,cache=loose rootfstype=9p \
         init=/virt/init  ip=dhcp iterations=3 root=/dev/vda",
    );
    assert_eq!(plan, Plan::parse("iterations=3"));
    let error = refused("rw=1 consoles=1");
    assert_eq!((error.word, error.position), ("consoles=1", 2));
}

#[test]
fn every_word_is_followed() {
    use WakePattern::{Chain, Staggered, Together};
    let read = |bootargs| Plan::parse(bootargs).expect("all words are good");
    let plan = read("\t\r\n ");
    assert_eq!(plan, Plan::default());
    assert_eq!((plan.iterations, plan.warmup), (20, 2));
    assert_eq!(plan.scenarios, ScenarioSet::SUITE);
    assert_eq!((plan.batches(), plan.tests()), ((1024, 1024), 6));
    assert!(plan.methods.iter().eq([Method::Tftf]));
    let wakes = [Method::Tftf, Method::Warm].map(|method| plan.wake_by(method));
    assert_eq!(wakes, [Chain, Together]);
    assert_eq!((plan.end, plan.records.copies()), (EndAction::Off, 1));

    let plan = read(
        "  iterations=1000000\twarmup=0 only=cpu_susp_serial,test_rt_instr_psci_version_parallel \
         method=warm,tftf wake=chain end=reset deepest=0x0101FFff core=0x0\n",
    );
    assert_eq!((plan.iterations, plan.warmup), (1_000_000, 0));
    let mut tags = plan.scenarios.iter().map(ScenarioId::short_tag);
    assert!(
        tags.by_ref()
            .eq(["cpu_susp_serial", "psci_version_parallel"])
    );
    assert!(plan.methods.iter().eq([Method::Tftf, Method::Warm]));
    assert_eq!(plan.wake_by(Method::Warm), Chain);
    assert_eq!(plan.end, EndAction::Reset);
    assert_eq!((plan.deepest, plan.core), (Some(0x0101_ffff), Some(0)));

    let plan = read("end=park method=warm wake=staggered warmup=10000 records=twice samples=all");
    assert_eq!((plan.end, plan.wake), (EndAction::Park, Some(Staggered)));
    assert!(plan.methods.iter().eq([Method::Warm]) && plan.samples);
    assert_eq!((plan.warmup, plan.records.copies()), (10_000, 2));

    let plan = read("only=suite,null_call loops=1000 batch=300 method=warm,tftf records=none");
    assert_eq!((plan.batches(), plan.tests()), ((300, 4), 13));
    assert_eq!((plan.scenarios.len(), plan.records.copies()), (7, 0));
    assert_eq!(read("loops=7").batches(), (7, 1));
    assert!(read("only=help").list && !plan.list);

    let timers = "timers=all stress=mixed,idle,clean";
    let plan = std::format!("period=500 duration=3600 footprint=64K threshold=80 {timers}");
    let timer = read(&plan).timer;
    assert_eq!(timer.expiries(), (7_200_000, 2_000));
    assert_eq!((timer.buffer(), timer.threshold), (64 << 10, Some(80)));
    assert_eq!((timer.alone(), timer.all()), (false, true));
    assert_eq!(timer.load_list(), "idle,clean,mixed");
    assert_eq!(timer.timer_list(), "all");
    assert_eq!(read("footprint=1024M").timer.footprint, 1 << 30);
}

const REFUSED: [(Key, &str); 20] = [
    (Key::Iterations, "0 1000001 99999999999999999999 +5 -5 0x10"),
    (Key::Warmup, "10001 two"),
    (
        Key::Only,
        "'cpu_susp_serial' cpu_susp_serial, susp_deep help,null_call",
    ),
    (Key::Loops, "0 1073741825"),
    (Key::Batch, "0 65537"),
    (Key::Duration, "0 86401"),
    (Key::Period, "49 1000001"),
    (Key::Stress, "all idle, ,idle Idle"),
    (Key::Footprint, "4095 1025M 4096M 1G 64k K -1 4294967296"),
    (Key::Timers, "each"),
    (Key::Threshold, "0"),
    (Key::Method, "cold"),
    (Key::Wake, "Together"),
    (Key::End, "halt o\\ff"),
    (Key::Records, "all"),
    (Key::Samples, "some"),
    (Key::Deepest, "0x 0x+1 0x123456789 65536"),
    (Key::Core, "0xfoo"),
    (Key::Dirty, "0, - 8- 2M-1M 65M 1G 1k +1 99999999999"),
    (Key::Contend, "0 513 1K 0-4"),
];

#[test]
fn the_wrong_word_is_named() {
    use crate::plan::key::PlanProblem::{Duplicate, UnknownKey, Value};
    for (key, values) in REFUSED {
        for value in [""].into_iter().chain(values.split(' ')) {
            let word = std::format!("{}={value}", key.word());
            assert_eq!(refused(&word).problem, Value(key), "{word}");
        }
    }
    for word in ["=5", "earlycon=pl011", "Iterations=5"] {
        let error = refused(word);
        let found = (error.word, error.position, error.problem);
        assert_eq!(found, (word, 1, UnknownKey));
    }
    let error = refused("wake=chain end=off  wake=chain");
    assert_eq!((error.word, error.position), ("wake=chain", 3));
    assert_eq!(error.problem, Duplicate(Key::Wake));
}

/// Arguments and the message for each; a line that begins with a blank continues it.
const MESSAGES: &str = "
warmup=1 iterations=0 => word 2 `iterations=0`: iterations takes a number from 1 to 1000000
only=x => word 1 `only=x`: only takes help, or one or more, parted by commas, of
 susp_deep_parallel susp_deep_serial cpu_susp_parallel cpu_susp_serial cpu_off_serial
 psci_version_parallel null_call self_sgi sysreg_trap pmf_read cpu_on empty timer_latency
 dirty_sweep contend_sweep idle_states system_suspend suite micro all
footprint=5000M => word 1 `footprint=5000M`: footprint takes a number from 4096 to 1073741824,
 K or M behind it
dirty=65M => word 1 `dirty=65M`: dirty takes up to 24 of 0 to 64M bytes, parted by commas; A-B doubles
a=b => word 1 `a=b`: unknown key; the keys are iterations warmup only method wake end deepest
 core samples records loops batch duration period stress footprint timers threshold dirty contend
end=halt => word 1 `end=halt`: end takes off, park or reset
quiet => word 1 `quiet`: expected key=value
end=off end=off => word 2 `end=off`: end was given before";

#[test]
fn an_error_says_what_is_accepted() {
    let table = MESSAGES.replace("\n ", " ").replace('`', "\"");
    for row in table.lines().skip(1) {
        let (bootargs, text) = row.split_once(" => ").expect("two parts");
        let expected = std::format!("bootargs {text}");
        assert_eq!(refused(bootargs).to_string(), expected);
    }
    let escaped = "bootargs word 1 \"x?[2J?\": expected key=value";
    assert_eq!(refused("x\u{1b}[2J\u{e9}").to_string(), escaped);
    let long: String = "y".repeat(5000);
    assert!(refused(&long).to_string().len() < 100);
}
