use std::format;
use std::string::{String, ToString};

use super::*;
use crate::testing::documented::check_table;

fn refused(bootargs: &str) -> PlanError<'_> {
    Plan::parse(bootargs).expect_err(bootargs)
}

/// Boot arguments as loaders pass them for `iterations=3`.
const HANDED_OVER: [&str; 4] = [
    // kvmtool: `lkvm run --kernel Image -p "iterations=3"`.
    " console=ttyS0 rw rootflags=trans=virtio,version=9p2000.L,cache=loose rootfstype=9p \
     init=/virt/init  ip=dhcp iterations=3 root=/dev/vda",
    // The Raspberry Pi firmware.
    "coherent_pool=1M 8250.nr_uarts=1 snd_bcm2835.enable_headphones=0 \
     vc_mem.mem_base=0x3ec00000 console=tty1 iterations=3",
    // Depthcharge.
    "cros_secure iterations=3",
    "earlycon clk_ignore_unused iterations=3",
];

#[test]
fn words_of_an_operating_system_are_passed_over_where_a_loader_put_them() {
    for bootargs in HANDED_OVER {
        let plan = Plan::parse_among_foreign(bootargs);
        assert_eq!(plan, Plan::parse("iterations=3"), "{bootargs}");
        let first = bootargs.split_ascii_whitespace().next().expect("a word");
        assert!(is_foreign(first) && !is_foreign("iterations=3"));
        let error = refused(bootargs);
        assert_eq!((error.word, error.position), (first, 1));
    }
}

#[test]
fn own_words_among_foreign_ones_are_as_strict() {
    use crate::plan::PlanProblem::{Duplicate, NotAPair, Value};
    for (bootargs, word, position, problem) in [
        (
            "cros_secure iterations=0",
            "iterations=0",
            2,
            Value(Key::Iterations),
        ),
        ("quiet end", "end", 2, NotAPair),
        ("end=off rw end=park", "end=park", 3, Duplicate(Key::End)),
    ] {
        let error = Plan::parse_among_foreign(bootargs).expect_err(bootargs);
        let found = (error.word, error.position, error.problem);
        assert_eq!(found, (word, position, problem));
    }
}

/// Boot arguments that boards' trees have for Linux, without any of the payload's.
const OF_LINUX: [&str; 7] = [
    "earlycon=pl011,0x9000000 console=ttyAMA2",
    "earlycon=uart8250,mmio32,0xfeb50000 console=ttyFIQ0 irqchip.gicv3_pseudo_nmi=0 \
     root=PARTUUID=614e0000-0000 rw rootwait",
    "earlycon",
    "ignore_loglevel rw root=/dev/nfs ip=on",
    "maxcpus=2",
    "earlycon=efifb console=efifb acpi=no",
    "swiotlb=1 androidboot.baseband=N/A firmware_class.path=/vendor/etc/firmware init=/init \
     rootwait ro loop.max_part=7 androidboot.selinux=permissive buildvariant=userdebug",
];

#[test]
fn words_of_linux_in_a_tree_are_passed_over() {
    for bootargs in OF_LINUX {
        assert_eq!(Plan::parse_from_tree(bootargs), Ok(Plan::default()));
        let both = format!("iterations=3 {bootargs} end=park");
        let plan = Plan::parse_from_tree(&both);
        assert_eq!(plan, Plan::parse("iterations=3 end=park"), "{both}");
        refused(bootargs);
    }
}

#[test]
fn a_misspelled_key_is_refused_even_among_words_of_linux() {
    use crate::plan::PlanProblem::UnknownKey;
    for word in [
        "iteration=5",
        "iter=5",
        "Iterations=5",
        "itertions=5",
        "itreations=5",
        "warm=1",
        "methods=warm",
        "onyl=fitness",
        "deepst=0x1",
        "cpu_on_after=0",
        "cores=0x1",
        "ned=off",
        "sample=all",
        "iteration",
    ] {
        for bootargs in [word, &format!("console=ttyS0,115200 {word} rw")] {
            let error = Plan::parse_from_tree(bootargs).expect_err(bootargs);
            assert_eq!(error.word, word);
            let is_unknown = error.problem == UnknownKey;
            assert!(is_unknown || word == "iteration", "{error}");
        }
        Plan::parse_among_foreign(word).expect_err(word);
    }
    // Without a kernel's word, all words are meant for the payload.
    for word in ["foo=5", "coherent_pool=1M", "swiotlb=1"] {
        Plan::parse_from_tree(word).expect_err(word);
    }
}

/// Valid words, and the resulting options as they appear in records.
const FOLLOWED: &[(&str, &str)] = &[
    (
        "iterations=1000000 warmup=0",
        r#""iterations":1000000,"warmup":0"#,
    ),
    ("warmup=10000", r#""warmup":10000"#),
    (
        "only=cpu_susp_serial,test_rt_instr_psci_version_parallel",
        r#""only":"cpu_susp_serial,psci_version_parallel""#,
    ),
    ("only=help", r#""only":"help""#),
    ("method=warm,tftf", r#""method":"tftf,warm""#),
    ("method=warm", r#""method":"warm""#),
    ("wake=staggered", r#""wake":"staggered""#),
    ("end=reset", r#""end":"reset""#),
    ("end=park", r#""end":"park""#),
    (
        "deepest=0x0101FFff core=0x0",
        r#""deepest":"0x0101ffff","core":"0x00000000""#,
    ),
    ("samples=all", r#""samples":"all""#),
    ("records=twice", r#""records":"twice""#),
    ("loops=7 batch=300", r#""loops":7,"batch":300"#),
    (
        "duration=3600 period=500",
        r#""duration":3600,"period":500"#,
    ),
    (
        "footprint=64K threshold=80",
        r#""footprint":"64K","timers":"alone,all","threshold":80"#,
    ),
    ("footprint=1024M", r#""footprint":"1024M""#),
    (
        "stress=mixed,idle,clean timers=all",
        r#""stress":"idle,clean,mixed","footprint":"4M","timers":"all""#,
    ),
    (
        "stress=smc,suspend timers=far,near",
        r#""stress":"smc,suspend","footprint":"4M","timers":"near,far""#,
    ),
    ("neighbors=all,alone", r#""neighbors":"alone,all""#),
    ("neighbors=near", r#""neighbors":"near""#),
    ("cpu-on-after=0", r#""cpu-on-after":0"#),
    ("cpu-on-after=1000000", r#""cpu-on-after":1000000"#),
    (
        "dirty=0,64K,1M,100 contend=1,6-14",
        r#""dirty":"0,64K,1M,100","contend":"1,6,7,8,12,14""#,
    ),
    ("dirty=0,16K-64K", r#""dirty":"0,16K,32K,64K""#),
    ("dirty=0-64K", r#""dirty":"0,16K,32K,64K""#),
    ("dirty=48K-100K", r#""dirty":"48K,96K,100K""#),
    ("dirty=16K,0-16K", r#""dirty":"16K,0""#),
    (
        "dirty=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24",
        ",24\"",
    ),
];

#[test]
fn every_word_is_followed() {
    let read = |bootargs| Plan::parse(bootargs).expect(bootargs);
    for (bootargs, choices) in FOLLOWED {
        let record = serde_json::to_string(&read(bootargs)).expect("a record");
        assert!(record.contains(choices), "{bootargs}: {record}");
    }
    let default = read("\t\r\n ");
    assert_eq!(default, Plan::default());
    assert_eq!(default.scenarios, ScenarioSet::SUITE);
    assert_eq!((default.iterations, default.warmup), (20, 2));
    assert_eq!(default.cpu_on_after, 1_000);
    assert_eq!((default.batches(), default.tests()), ((1024, 1024), 6));
    let patterns = |plan: Plan| Method::ALL.map(|method| plan.wake_by(method));
    assert_eq!(
        patterns(default),
        [WakePattern::Chain, WakePattern::Together]
    );
    let staggered = patterns(read("wake=staggered"));
    assert_eq!(staggered, [WakePattern::Staggered; 2]);

    let sleep = |bootargs, of_board| {
        let mut plan = read(bootargs);
        plan.complete_sleep(of_board);
        plan.text(Key::Sleep)
    };
    assert_eq!(default.text(Key::Sleep), None);
    assert_eq!(sleep("", None).as_deref(), Some("10000"));
    assert_eq!(sleep("", Some(256_000)).as_deref(), Some("256000"));
    assert_eq!(sleep("sleep=0", Some(256_000)).as_deref(), Some("0"));

    let first = read("only=first");
    assert_eq!(first.text(Key::Only).as_deref(), Some("first"));
    assert_eq!((first.iterations, first.warmup, first.tests()), (1, 0, 4));
    assert_eq!(read("only=first iterations=3").iterations, 3);

    let plan = read("only=suite,null_call loops=1000 batch=300 method=warm,tftf");
    assert_eq!((plan.batches(), plan.tests()), ((300, 4), 13));
    assert!(plan.methods.iter().eq([Method::Tftf, Method::Warm]));
    assert_eq!(read("loops=7").batches(), (7, 1));
    let json = serde_json::to_string(&plan).expect("a record");
    assert_eq!(serde_json::from_str::<Plan>(&json).expect(&json), plan);
}

/// Keys, each with invalid values.
const REFUSED: &[(Key, &[&str])] = &[
    (
        Key::Iterations,
        &["0", "1000001", "99999999999999999999", "+5", "-5", "0x10"],
    ),
    (Key::Warmup, &["10001", "two"]),
    (
        Key::Only,
        &[
            "'cpu_susp_serial'",
            "cpu_susp_serial,",
            "susp_deep",
            "help,null_call",
            "first,suite",
            "suite,first",
        ],
    ),
    (Key::Loops, &["0", "1073741825"]),
    (Key::Batch, &["0", "65537"]),
    (Key::Duration, &["0", "86401"]),
    (Key::Period, &["49", "1000001"]),
    (Key::Stress, &["all", "idle,", ",idle", "Idle"]),
    (
        Key::Footprint,
        &[
            "4095",
            "1025M",
            "4096M",
            "1G",
            "64k",
            "K",
            "-1",
            "4294967296",
        ],
    ),
    (Key::Timers, &["each"]),
    (Key::Threshold, &["0"]),
    (Key::Method, &["cold"]),
    (Key::Wake, &["Together"]),
    (Key::End, &["halt", "o\\ff"]),
    (Key::Records, &["all"]),
    (Key::Samples, &["some"]),
    (Key::Deepest, &["0x", "0x+1", "0x123456789", "65536"]),
    (Key::Core, &["0xfoo"]),
    (
        Key::Dirty,
        &[
            "0,",
            "-",
            "8-",
            "2M-1M",
            "65M",
            "1G",
            "1k",
            "+1",
            "99999999999",
        ],
    ),
    (
        Key::Dirty,
        &["1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25"],
    ),
    (Key::Contend, &["0", "513", "1K", "0-4"]),
    (Key::CpuOnAfter, &["1000001", "-1", "1ms"]),
    (
        Key::Helper,
        &["1", "0x", "0x1000000", "0x+1", "0x10000000000"],
    ),
    (Key::Timestamps, &["none"]),
    (Key::CpuOff, &["no"]),
    (Key::Sleep, &["1000001", "-1", "10ms"]),
    (Key::HostCpus, &["65536", "-1", "all"]),
];

#[test]
fn the_wrong_word_is_named() {
    use crate::plan::PlanProblem::{Duplicate, UnknownKey, Value};
    for (key, values) in REFUSED {
        for value in values.iter().chain([&""]) {
            let word = std::format!("{}={value}", key.word());
            assert_eq!(refused(&word).problem, Value(*key), "{word}");
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

/// Arguments, and the error message for each.
const MESSAGES: &[(&str, &str)] = &[
    (
        "warmup=1 iterations=0",
        "word 2 \"iterations=0\": iterations takes a number from 1 to 1000000",
    ),
    (
        "only=x",
        "word 1 \"only=x\": only takes help, or one or more of these, separated by commas: \
         susp_deep_parallel susp_deep_serial cpu_susp_parallel cpu_susp_serial \
         cpu_off_serial psci_version_parallel null_call service_call self_sgi ipi eoi lpi mmio_read sysreg_trap pmf_read \
         cpu_on empty timer_latency dirty_sweep contend_sweep idle_states ipi_wake cold_call \
         system_suspend cpu_on_flood masked_time gaps wake_race stress fitness suite micro all first",
    ),
    (
        "footprint=5000M",
        "word 1 \"footprint=5000M\": footprint takes a number from 4096 to 1073741824, \
         optionally followed by K or M",
    ),
    (
        "dirty=65M",
        "word 1 \"dirty=65M\": dirty takes up to 24 sizes from 0 to 64M, or doubling \
         ranges (A-B), separated by commas",
    ),
    (
        "a=b",
        "word 1 \"a=b\": unknown key; valid keys are iterations warmup only method wake sleep end \
         deepest core timestamps cpu-off frame helper host-cpus watchdog samples records loops batch duration period stress footprint timers \
         threshold dirty contend cpu-on-after fitness seed calls offsets repeats \
         neighbors",
    ),
    (
        "calls=84000000",
        "word 1 \"calls=84000000\": calls takes up to 24 function IDs (0x and hexadecimal digits), \
         or ranges (A-B), separated by commas",
    ),
    (
        "offsets=65",
        "word 1 \"offsets=65\": offsets takes a number from 2 to 64",
    ),
    (
        "neighbors=cpu1",
        "word 1 \"neighbors=cpu1\": neighbors takes one or more of these, separated by commas: alone all near far",
    ),
    (
        "only=cpu_on,fitnes",
        "word 1 \"only=cpu_on,fitnes\": no scenario is called fitnes; did you mean fitness?",
    ),
    (
        "only=test_rt_instr_susp_deep_paralel",
        "word 1 \"only=test_rt_instr_susp_deep_paralel\": no scenario is called \
         test_rt_instr_susp_deep_paralel; did you mean susp_deep_parallel?",
    ),
    (
        "only=timer",
        "word 1 \"only=timer\": no scenario is called timer; did you mean timer_latency?",
    ),
    (
        "end=halt",
        "word 1 \"end=halt\": end takes off, park or reset",
    ),
    ("quiet", "word 1 \"quiet\": expected key=value"),
    (
        "end=off end=off",
        "word 2 \"end=off\": end was already given",
    ),
];

#[test]
fn an_error_says_what_is_accepted() {
    for (bootargs, text) in MESSAGES {
        let expected = std::format!("bootargs {text}");
        assert_eq!(refused(bootargs).to_string(), expected);
    }
    let escaped = "bootargs word 1 \"x?[2J?\": expected key=value";
    assert_eq!(refused("x\u{1b}[2J\u{e9}").to_string(), escaped);
    let long: String = "y".repeat(5000);
    assert!(refused(&long).to_string().len() < 100);
}

/// The table in the documentation, which UPDATE_EXPECT=1 rewrites.
#[test]
fn every_argument_is_documented() {
    let mut table = String::from("| argument | default | values | meaning |\n|---|---|---|---|\n");
    let default = Plan::default();
    for key in Key::ALL {
        let mut accepted = String::new();
        key.write_accepted(&mut accepted).expect("a String");
        // The list of scenarios is long, and `cargo xtask scenarios` prints it.
        if key == Key::Only {
            accepted = "tags or groups, separated by commas, or help".into();
        }
        let mut value = default.text(key).unwrap_or_default();
        if key == Key::Only {
            value = value.replace(&default.scenarios.list(), "suite");
        }
        let word = key.word();
        let meaning = key.meaning();
        table += &format!("| `{word}=` | {value} | {accepted} | {meaning} |\n");
    }
    check_table("boot-arguments.md", &table);
}
