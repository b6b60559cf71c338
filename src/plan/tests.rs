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

/// Good words, and the choices that they make, as records have them.
const FOLLOWED: &[(&str, &str)] = &[
    (
        "iterations=1000000\twarmup=0",
        r#""iterations":1000000,"warmup":0"#,
    ),
    ("warmup=10000", r#""warmup":10000"#),
    (
        "only=cpu_susp_serial,test_rt_instr_psci_version_parallel",
        r#""scenarios":["cpu_susp_serial","psci_version_parallel"]"#,
    ),
    ("only=help", r#""list":true"#),
    ("method=warm,tftf", r#""methods":"both""#),
    ("method=warm", r#""methods":"warm""#),
    ("wake=staggered", r#""wake":"staggered""#),
    ("end=reset", r#""end":"reset""#),
    ("end=park", r#""end":"park""#),
    (
        "deepest=0x0101FFff core=0x0\n",
        r#""deepest":16908287,"core":0"#,
    ),
    ("samples=all", r#""samples":true"#),
    ("records=twice", r#""records":"twice""#),
    ("loops=7 batch=300", r#""loops":7,"batch":300"#),
    (
        "duration=3600 period=500",
        r#"{"duration":3600,"period":500"#,
    ),
    (
        "footprint=64K threshold=80",
        r#""footprint":65536,"threshold":80"#,
    ),
    ("footprint=1024M", r#""footprint":1073741824"#),
    (
        "stress=mixed,idle,clean timers=all",
        r#""loads":49,"timers":2"#,
    ),
    (
        "dirty=0-16K contend=1,3",
        r#""dirty":[0,16384],"contend":[1,3]"#,
    ),
];

#[test]
fn every_word_is_followed() {
    let read = |bootargs| Plan::parse(bootargs).expect(bootargs);
    for (bootargs, choices) in FOLLOWED {
        let plan = serde_json::to_string(&read(bootargs)).expect("a record");
        assert!(plan.contains(choices), "{bootargs}: {plan}");
    }
    let plan = read("\t\r\n ");
    assert_eq!(
        (plan, plan.scenarios),
        (Plan::default(), ScenarioSet::SUITE)
    );
    assert_eq!((plan.iterations, plan.warmup), (20, 2));
    assert_eq!((plan.batches(), plan.tests()), ((1024, 1024), 6));
    let wakes = Method::ALL.map(|method| plan.wake_by(method));
    assert_eq!(wakes, [WakePattern::Chain, WakePattern::Together]);
    let wakes = Method::ALL.map(|method| read("wake=staggered").wake_by(method));
    assert_eq!(wakes, [WakePattern::Staggered; 2]);

    let plan = read("only=suite,null_call loops=1000 batch=300 method=warm,tftf");
    assert_eq!((plan.batches(), plan.tests()), ((300, 4), 13));
    assert!(plan.methods.iter().eq([Method::Tftf, Method::Warm]));
    assert_eq!(read("loops=7").batches(), (7, 1));
    let timer = read("stress=mixed,idle,clean timers=all").timer;
    assert_eq!(
        (timer.load_list().as_str(), timer.timer_list()),
        ("idle,clean,mixed", "all")
    );
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
