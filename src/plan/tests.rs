use std::string::{String, ToString};

use super::error::PlanError;
use super::key::*;
use super::plan::*;
use super::*;

fn refused(bootargs: &str) -> PlanError<'_> {
    Plan::parse(bootargs).expect_err(bootargs)
}

/// The arguments that kvmtool makes of `lkvm run --kernel Image -p "iterations=3"`.
#[test]
fn words_for_linux_are_passed_over() {
    let plan = Plan::parse(
        " console=ttyS0 rw rootflags=trans=virtio,version=9p2000.L,cache=loose rootfstype=9p \
         init=/virt/init  ip=dhcp iterations=3",
    );
    let expected = Plan {
        iterations: 3,
        ..Plan::default()
    };
    assert_eq!(plan, Ok(expected));
    assert_eq!(Plan::parse("root=/dev/vda rw"), Ok(Plan::default()));
    let error = refused("rw=1 consoles=1");
    assert_eq!((error.word, error.position), ("consoles=1", 2));
}

#[test]
fn nothing_said_is_the_default() {
    for blank in ["", " ", "\t\r\n "] {
        assert_eq!(Plan::parse(blank), Ok(Plan::default()));
    }
    let plan = Plan::default();
    assert_eq!((plan.iterations, plan.warmup), (20, 2));
    assert_eq!(plan.scenarios, ScenarioSet::SUITE);
    assert_eq!((plan.batches(), plan.tests()), ((1024, 1024), 6));
    assert!(plan.methods.iter().eq([Method::Tftf]));
    assert_eq!(plan.wake, None);
    assert_eq!(plan.wake_by(Method::Tftf), WakePattern::Chain);
    assert_eq!(plan.wake_by(Method::Warm), WakePattern::Together);
    assert_eq!(plan.end, EndAction::Off);
    assert_eq!((plan.deepest, plan.core), (None, None));
}

#[test]
fn every_word_is_followed() {
    let plan = Plan::parse(
        "  iterations=1000000\twarmup=0 only=cpu_susp_serial,test_rt_instr_psci_version_parallel \
         method=warm,tftf wake=chain end=reset deepest=0x0101FFff core=0x0\n",
    )
    .expect("all words are good");
    assert_eq!((plan.iterations, plan.warmup), (1_000_000, 0));
    assert!(plan.scenarios.iter().eq([
        ScenarioId::CpuSuspendSerial,
        ScenarioId::PsciVersionParallel
    ]));
    assert!(plan.methods.iter().eq([Method::Tftf, Method::Warm]));
    assert_eq!(plan.wake, Some(WakePattern::Chain));
    assert_eq!(plan.wake_by(Method::Warm), WakePattern::Chain);
    assert_eq!(plan.end, EndAction::Reset);
    assert_eq!((plan.deepest, plan.core), (Some(0x0101_ffff), Some(0)));

    let plan = Plan::parse("end=park method=warm wake=staggered warmup=10000 iterations=1")
        .expect("all words are good");
    assert_eq!(plan.end, EndAction::Park);
    assert!(plan.methods.iter().eq([Method::Warm]));
    assert_eq!(plan.wake, Some(WakePattern::Staggered));
    assert_eq!((plan.iterations, plan.warmup), (1, 10_000));
}

#[test]
fn loops_and_groups() {
    let plan = Plan::parse("only=suite,null_call loops=1000 batch=300 method=warm,tftf");
    let plan = plan.expect("all words are good");
    assert_eq!((plan.batches(), plan.tests()), ((300, 4), 13));
    assert_eq!(plan.scenarios.len(), 7);
    let few = Plan::parse("loops=7").expect("a good word");
    assert_eq!(few.batches(), (7, 1));
    let list = Plan::parse("only=help").expect("a good word");
    assert!(list.list && !plan.list);
}

#[test]
fn records() {
    for (word, copies) in [("once", 1), ("twice", 2), ("none", 0)] {
        let bootargs = std::format!("records={word}");
        let plan = Plan::parse(&bootargs).expect("a good word");
        assert_eq!(plan.records.copies(), copies, "{word}");
    }
    assert_eq!(Plan::default().records.copies(), 1);
}

#[test]
fn timers() {
    let plan = Plan::parse("period=500 duration=3600 footprint=64K threshold=80 timers=all");
    let timer = plan.expect("all words are good").timer;
    assert_eq!(timer.expiries(), (7_200_000, 2_000));
    assert_eq!((timer.buffer(), timer.threshold), (64 << 10, Some(80)));
    assert_eq!((timer.alone(), timer.all()), (false, true));
}

#[test]
fn the_wrong_word_is_named() {
    use crate::plan::error::PlanProblem::{
        Duplicate, NotAPair, Quoted, Repeated, UnknownKey, Value,
    };
    for (word, problem) in [
        ("iterations=0", Value(Key::Iterations)),
        ("iterations=1000001", Value(Key::Iterations)),
        ("iterations=99999999999999999999", Value(Key::Iterations)),
        ("iterations=", Value(Key::Iterations)),
        ("iterations=+5", Value(Key::Iterations)),
        ("iterations=-5", Value(Key::Iterations)),
        ("iterations=0x10", Value(Key::Iterations)),
        ("iterations=5=5", Value(Key::Iterations)),
        ("warmup=10001", Value(Key::Warmup)),
        ("warmup=two", Value(Key::Warmup)),
        ("only=", Value(Key::Only)),
        ("only=cpu_susp_serial,", Value(Key::Only)),
        ("only=susp_deep", Value(Key::Only)),
        (
            "only=cpu_susp_serial,test_rt_instr_cpu_susp_serial",
            Repeated(Key::Only),
        ),
        ("only=suite,psci_version_parallel", Repeated(Key::Only)),
        ("only=help,null_call", Value(Key::Only)),
        ("loops=0", Value(Key::Loops)),
        ("loops=1073741825", Value(Key::Loops)),
        ("batch=0", Value(Key::Batch)),
        ("batch=65537", Value(Key::Batch)),
        ("duration=0", Value(Key::Duration)),
        ("duration=86401", Value(Key::Duration)),
        ("period=49", Value(Key::Period)),
        ("period=1000001", Value(Key::Period)),
        ("stress=", Value(Key::Stress)),
        ("stress=all", Value(Key::Stress)),
        ("stress=write,idle,write", Repeated(Key::Stress)),
        ("footprint=4095", Value(Key::Footprint)),
        ("footprint=1025M", Value(Key::Footprint)),
        ("footprint=1G", Value(Key::Footprint)),
        ("timers=each", Value(Key::Timers)),
        ("timers=all,all", Repeated(Key::Timers)),
        ("threshold=0", Value(Key::Threshold)),
        ("method=", Value(Key::Method)),
        ("method=cold", Value(Key::Method)),
        ("method=tftf,tftf", Repeated(Key::Method)),
        ("wake=", Value(Key::Wake)),
        ("wake=Together", Value(Key::Wake)),
        ("end=halt", Value(Key::End)),
        ("records=", Value(Key::Records)),
        ("records=all", Value(Key::Records)),
        ("deepest=", Value(Key::Deepest)),
        ("deepest=0x", Value(Key::Deepest)),
        ("deepest=0x+1", Value(Key::Deepest)),
        ("deepest=0x123456789", Value(Key::Deepest)),
        ("deepest=65536", Value(Key::Deepest)),
        ("core=0xfoo", Value(Key::Core)),
        ("quiet", NotAPair),
        ("=", UnknownKey),
        ("=5", UnknownKey),
        ("earlycon=pl011", UnknownKey),
        ("Iterations=5", UnknownKey),
        ("\"iterations=5\"", Quoted),
        ("only='cpu_susp_serial'", Quoted),
        ("end=o\\ff", Quoted),
    ] {
        let expected = PlanError {
            word,
            position: 1,
            problem,
        };
        assert_eq!(refused(word), expected);
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
stress=much => word 1 `stress=much`: stress takes one or more, parted by commas, of idle write
 zero nontemporal clean mixed
method=hot => word 1 `method=hot`: method takes tftf, warm or both parted by a comma
dirty=65M => word 1 `dirty=65M`: dirty takes up to 24 of 0 to 64M bytes, parted by commas; A-B doubles
contend=0 => word 1 `contend=0`: contend takes up to 24 of 1 to 512 CPUs, parted by commas; A-B
a=b => word 1 `a=b`: unknown key; the keys are iterations warmup only method wake end deepest
 core samples records loops batch duration period stress footprint timers threshold dirty contend
timers=each => word 1 `timers=each`: timers takes alone, all or both parted by a comma
wake=none => word 1 `wake=none`: wake takes together, staggered or chain
end=halt => word 1 `end=halt`: end takes off, park or reset
samples=some => word 1 `samples=some`: samples takes none or all
deepest=1 => word 1 `deepest=1`: deepest takes a power_state of 0x and 1 to 8 hexadecimal digits
core=0xfoo => word 1 `core=0xfoo`: core takes a power_state of 0x and 1 to 8 hexadecimal digits
`end=off` => word 1 ``end=off``: quotes and backslashes are not supported
method=tftf,tftf => word 1 `method=tftf,tftf`: method names one item twice
quiet => word 1 `quiet`: expected key=value
duration=0 => word 1 `duration=0`: duration takes a number from 1 to 86400
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
