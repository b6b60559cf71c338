use psci_bench::measure::Metric;
use psci_bench::model::Verdict;
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::record::crc::Crc32;

use super::reader::read_bytes;
use crate::report::model::{Point, Run, Status, Term};

/// A run of four CPUs on QEMU under `--icount`, with every sample.
const QEMU: &[u8] = include_bytes!("../../../tests/data/report/qemu-4cpu.log");

fn read_runs(log: &[u8]) -> Vec<Run> {
    read_bytes("a.log", log).expect("there is a run")
}

fn qemu() -> Run {
    let mut runs = read_runs(QEMU);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// What two runs have to share that are one, read in two ways.
fn figures(run: &Run) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        run.model, run.facts, run.plan, run.cpus, run.tests, run.firmware
    )
}

#[test]
fn a_whole_log() {
    let run = qemu();
    let records = run.integrity.records.as_ref().expect("records");
    assert_eq!(records.expected, Some(records.received));
    assert_eq!((records.crcs_match, records.damaged), (Some(true), 0));
    assert_eq!((records.malformed, records.unknown_types), (0, 0));
    assert!(run.is_complete() && run.integrity.is_verified());
    assert_eq!(
        (run.integrity.rt_instr, run.integrity.rt_instr_wrong),
        (24, 0)
    );
    assert_eq!(run.model.as_deref(), Some("QEMU virt"));
    assert_eq!(run.version.as_deref(), Some("0.1.0"));
    assert_eq!(run.facts.hz, Some(62_500_000));
    assert!(run.facts.others.is_empty() && run.plan.others.is_empty());
    assert_eq!(
        run.firmware_version(),
        Some("v2.12.1(release):psci-bench-2.12.1")
    );
    assert_eq!(run.firmware.len(), 3);
    assert_eq!(
        run.closing.as_ref().map(|it| it.verdict),
        Some(Verdict::Pass)
    );
    assert_eq!(run.cpus.len(), 4);
    assert_eq!(run.tests.len(), 6);
    for (test, id) in run.tests.iter().zip(ScenarioId::SUITE) {
        assert_eq!(
            (&test.scenario, test.status),
            (&Term::Known(id), Status::Passed)
        );
        assert!(test.method.is(Method::Tftf) && test.rows.len() == 4);
        assert!(test.rows.iter().all(|row| row.samples.len() == 2));
        assert!(
            test.rows
                .iter()
                .all(|row| row.verified && row.valid == Some(2))
        );
    }
    let deep = &run.tests[0];
    assert_eq!(deep.power_state, Some(0x0201_0222));
    assert!(deep.findings[0].starts_with("Last man down in cluster 0"));
    let reached = deep.rows[1].reached.expect("by PSCI_STAT");
    assert_eq!(reached.state, Some(0x0201_0222));
}

/// The instants that a record has give the figures of its summary.
#[test]
fn samples_are_those_of_the_statistics() {
    let run = qemu();
    let mut compared = 0;
    for row in run.tests.iter().flat_map(|test| &test.rows) {
        for (metric, summary) in &row.summaries {
            let known = metric.known().expect("a known metric");
            if known == Metric::Lateness {
                continue;
            }
            let figures = row.samples.iter().map(|it| it.instants.figure(known));
            let mut figures: Vec<u64> = figures.map(|it| it.expect("a figure")).collect();
            assert_eq!(
                psci_bench::measure::Summary::of(&mut figures),
                *summary,
                "{metric}"
            );
            compared += 1;
        }
        let event = row.event.expect("an event");
        assert!(row.samples.iter().any(|it| it.instants == event));
        assert!(event.counter(Point::Before).is_some());
    }
    assert!(compared > 80);
}

#[test]
fn however_it_was_logged() {
    let whole = figures(&qemu());
    let text = String::from_utf8_lossy(QEMU).into_owned();
    let lines = || text.lines().map(str::trim_end);
    let each = |make: &dyn Fn(usize, &str) -> String| {
        let made: Vec<String> = lines()
            .enumerate()
            .map(|(at, line)| make(at, line))
            .collect();
        made.concat()
    };
    let yaml = |line: &str| {
        let line = line
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\t', "\\t");
        format!(
            "- {{\"dt\": \"2026-01-02T10:11:12.345678\", \"lvl\": \"target\", \"msg\": \"{line}\"}}\n\
             - {{\"dt\": \"2026-01-02T10:11:12.345678\", \"lvl\": \"debug\", \"msg\": \"{line}\"}}\n"
        )
    };
    for (name, log) in [
        ("LF", each(&|_, line| format!("{line}\n"))),
        ("CR", each(&|_, line| format!("{line}\r"))),
        ("CR CR LF", each(&|_, line| format!("{line}\r\r\n"))),
        ("LF CR", each(&|_, line| format!("{line}\n\r"))),
        (
            "stamps",
            each(&|at, line| format!("[2026-01-02 10:11:12.{at:03}] {line}\r\n")),
        ),
        (
            "seconds",
            each(&|at, line| format!("[{at:5}.234567] {line}\n")),
        ),
        (
            "colours",
            each(&|_, line| format!("\x1b[32m{line}\x1b[0m\r\n")),
        ),
        ("NUL", each(&|_, line| format!("\0{line}\0\r\n"))),
        ("LAVA", each(&|_, line| yaml(line))),
    ] {
        let runs = read_runs(log.as_bytes());
        assert_eq!(runs.len(), 1, "{name}");
        assert!(figures(&runs[0]) == whole, "{name}");
        assert!(runs[0].is_complete(), "{name}");
    }
    // As a terminal of 80 columns breaks them: records and last line survive.
    let broken = each(&|_, line| match line.split_at_checked(80) {
        Some((start, rest)) => format!("{start}\r\n{rest}\r\n"),
        None => format!("{line}\r\n"),
    });
    let run = &read_runs(broken.as_bytes())[0];
    assert!(run.is_complete() && run.doubts().is_empty());
    assert_eq!(run.closing, qemu().closing);
    // No line ends at all among records, and the firmware between them.
    let glued = text.replace("\r\n@PB", "@PB");
    assert!(read_runs(glued.as_bytes())[0].is_complete());
    let talking = each(&|at, line| match at % 3 {
        0 => format!("{line}NOTICE:  BL31: hello\r\n"),
        _ => format!("{line}\r\nINFO:    BL31: x\r\n"),
    });
    assert!(read_runs(talking.as_bytes())[0].is_complete());
}

#[test]
fn the_second_copy_fills_gaps() {
    let text = String::from_utf8_lossy(QEMU).into_owned();
    let cut = text.replacen("@PB 0012 row", "@PB 0012 rwo", 1);
    let run = &read_runs(cut.as_bytes())[0];
    let records = run.integrity.records.as_ref().expect("records");
    assert_eq!((records.from_second, records.damaged), (1, 1));
    assert!(run.is_complete());
    assert_eq!(figures(run), figures(&qemu()));

    // In neither copy, and what else tells its figures neither: the row is the
    // RT_INSTR line's, and marked.
    let cut = text.replace("@PB 0012 row", "@PB 0012 rwo");
    let cut = cut.replace("@PB 0019 ev", "@PB 0019 ve");
    let run = &read_runs(cut.as_bytes())[0];
    let records = run.integrity.records.as_ref().expect("records");
    assert_eq!(records.missing.len(), 2);
    assert!(records.missing[0].to_string().starts_with("record 0012"));
    assert!(!run.is_complete() && !run.integrity.is_verified());
    let (row, whole) = (&run.tests[0].rows[0], &qemu().tests[0].rows[0]);
    assert_eq!((row.verified, row.valid), (false, None));
    assert_eq!(row.figures, whole.figures);
}

#[test]
fn several_runs_in_a_log() {
    let log = [QEMU, b"\r\nboard resets\r\n", QEMU].concat();
    let runs = read_runs(&log);
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(Run::is_complete));
    assert_eq!(runs[1].source.place, 2);
    assert!(runs[1].source.lines.0 > runs[0].source.lines.1);
    assert_eq!(figures(&runs[0]), figures(&runs[1]));

    // The power fails in the first one, at any place.
    let places = (1..40).map(|part| QEMU.len() * part / 40);
    for at in places {
        let log = [&QEMU[..at], b"\x00\xfe\r\n", QEMU].concat();
        let runs = read_runs(&log);
        let whole = runs.last().expect("runs");
        assert!(whole.is_complete(), "cut at {at}");
        assert_eq!(figures(whole), figures(&qemu()), "cut at {at}");
        // It is complete where its first copy was.
        let first = runs.first().filter(|first| first.is_complete());
        assert!(runs.len() <= 2 && first.is_none_or(|it| it.integrity.is_whole()));
    }
    // The last line of the first is lost, and so is the firmware's banner.
    let text = String::from_utf8_lossy(QEMU).into_owned();
    let headless = &text[text.find("> Executing").unwrap_or(0)..];
    let log = text.replace("psci-bench: PASS", "psci-bench: PSS") + headless;
    assert_eq!(read_runs(log.as_bytes()).len(), 2);
}

#[test]
fn a_tftf_log() {
    let log = "NOTICE:  BL31: v2.12.0(release):v2.12.0\nNOTICE:  BL31: Built : 1:2:3, Nov 20 2024\n\
        NOTICE:  Booting trusted firmware test framework\nNOTICE:  Running at NS-EL2\n\
        > Executing 'CPU suspend on all cores in sequence'\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t106880\t17060\t5280/>\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106900\t17020\t5290/>\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t106910\t17030\t5290/>\n\
        \x20 TEST COMPLETE                                                 Passed\n\
        > Executing 'PSCI version call on all cores in parallel'\n\
        <RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t1000/>\n\
        <RT_INSTR:test_rt_instr_later_serial\t0\t0\t01\t02\t03/>\n\
        \x20 TEST COMPLETE                                                 Failed\n\
        NOTICE:  Exiting tests.\n";
    let run = &read_runs(log.as_bytes())[0];
    assert!(run.is_complete() && !run.integrity.is_verified());
    assert!(run.integrity.records.is_none());
    assert_eq!(run.integrity.unverified_rows, 6);
    assert_eq!(run.facts.el, Some(2));
    // Two rows of each label: a machine whose cores have threads.
    assert_eq!(run.cpus.len(), 4);
    let suspend = run
        .test(ScenarioId::CpuSuspendSerial, Method::Tftf)
        .expect("there");
    let metric = Term::Known(Metric::Powerdown);
    let ns: Vec<_> = suspend
        .rows
        .iter()
        .map(|row| row.figure(&metric).and_then(|it| run.ns(it)))
        .collect();
    let all = [106_120, 106_900, 106_880, 106_910];
    assert_eq!(ns, all.map(Some));
    let version = run
        .test(ScenarioId::PsciVersionParallel, Method::Tftf)
        .expect("there");
    assert_eq!(version.status, Status::Failed);
    assert!(
        run.tests
            .iter()
            .any(|test| test.name() == "test_rt_instr_later_serial")
    );
}

/// Records as a later payload may send them.
#[test]
fn what_is_not_known_is_kept() {
    let bodies = [
        "run format=2 version=0.9 cpus=1 tests=1 model=A_board colour=red",
        "facts hz=50000000 lead=0 smccc=0x10004 moon=0x1 hz2=x",
        "cpu i=0 mpidr=0x0 cluster=0 core=0 thread=0 midr=0x410fd034 l1d=32768 l3=0x400 l9=7",
        "test t=9 by=cold tag=psci_bench_sgi_parallel status=passed pmf=0 unit=ticks",
        "m t=9 by=cold mpidr=0x0 metric=sgi n=9 min=1 med=5 max=9 mad=2 p50=4",
        "m t=9 by=cold mpidr=0x0 metric=half n=9 min=1 med=5",
        "x t=9 by=cold mpidr=0x0 moonlight=3",
        "histogram t=9 by=cold mpidr=0x0 b0=3",
        "row t=x by=cold mpidr=0x0 valid=1",
    ];
    let mut copy = String::new();
    let mut crcs = Crc32::default();
    for (seq, body) in bodies.iter().enumerate() {
        let body = format!("@PB {seq:04} {body} ");
        let crc = Crc32::of(body.as_bytes());
        crcs.update(&crc.to_be_bytes());
        copy.push_str(&format!("{body}{crc:08x}\n"));
    }
    let end = format!("@PB 0009 end records=9 crcs={:#010x} ", crcs.value());
    copy.push_str(&format!("{end}{:08x}\n", Crc32::of(end.as_bytes())));
    let run = &read_runs(format!("{copy}{copy}").as_bytes())[0];
    let records = run.integrity.records.as_ref().expect("records");
    assert_eq!((records.unknown_types, records.malformed), (1, 1));
    assert_eq!(records.crcs_match, Some(true));
    let doubts = run.doubts().join("\n");
    assert!(
        doubts.contains("format 2, and this version knows 1"),
        "{doubts}"
    );
    assert_eq!(run.others, [("colour".to_owned(), "red".to_owned())]);
    assert_eq!(run.facts.others.len(), 2);
    assert_eq!(run.facts.smccc, Some(0x1_0004));
    assert_eq!(run.cpus[0].midr, Some(0x410f_d034));
    let caches = run.cpus[0].caches.iter().map(ToString::to_string);
    assert_eq!(caches.collect::<Vec<_>>(), ["L1d 32 KiB", "L3 1 KiB"]);
    let test = &run.tests[0];
    assert_eq!(test.name(), "psci_bench_sgi_parallel");
    assert_eq!(test.method.word(), "cold");
    assert_eq!(test.columns(), [Term::of("sgi")]);
    assert_eq!(test.rows[0].figure(&Term::of("sgi")), Some(5));
    assert_eq!(test.rows[0].summaries.len(), 1, "a half summary is none");
    assert_eq!(test.reasons(), [(Term::of("moonlight"), 3)]);
}

#[test]
fn garbage_is_named() {
    let said = |log: &[u8]| match read_bytes("a.log", log) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert!(said(b"").starts_with("a.log: the log is empty"));
    assert!(said(b"hello\r\nworld\r\n").contains("in its 2 lines (14 bytes)"));
    assert!(said(b"hello\n").contains("in its 1 line (6 bytes)"));
    let wrong = String::from_utf8_lossy(QEMU).replace("=", "-");
    let records: Vec<&str> = wrong.lines().filter(|it| it.starts_with("@PB")).collect();
    let said_of_it = said(records.join("\n").as_bytes());
    assert!(
        said_of_it.contains("records (@PB ...), and not one with the right checksum"),
        "{said_of_it}"
    );
    assert!(said(b"hello\r\nworld\r\n").contains("ends with \"world\""));
    let binary: Vec<u8> = (0..200_000u32).map(|i| ((i * 7919) >> 3) as u8).collect();
    assert!(said(&binary).contains("it is binary"));
    let firmware = b"NOTICE:  BL1: v2.12(release):x\r\nNOTICE:  BL31: v2.12(release):x\r\n";
    assert!(said(firmware).contains("firmware BL31 v2.12(release):x did speak"));
    for at in 0..600 {
        let _ = said(&QEMU[QEMU.len() - at..]);
        let _ = said(&QEMU[..at]);
    }
}

#[test]
fn a_failure_is_told_with_its_details() {
    let whole = |number: usize, body: &str| {
        let body = format!("@PB {number:04x} {body} ");
        format!("{body}{:08x}\r\n", Crc32::of(body.as_bytes()))
    };
    for (said, why) in [
        (
            "why=timer why_cpu=1 fault=late ticks=255",
            "timer: why_cpu 1, fault late, ticks 255",
        ),
        (
            "why=timer why_cpu=0 fault=stray intid=40",
            "timer: why_cpu 0, fault stray, intid 40",
        ),
        (
            "why=wrong-answer why_cpu=1 call=unknown answer=0",
            "wrong-answer: why_cpu 1, call unknown, answer 0",
        ),
    ] {
        let test = format!("test t=13 by=warm tag=timer_latency status=failed {said} pmf=0");
        let cpu = "cpu i=0 mpidr=0x0 cluster=0 core=0 thread=0";
        let log = whole(1, cpu) + &whole(2, &test);
        let run = read_bytes("a.log", log.as_bytes()).expect("a run");
        let test = &run[0].tests[0];
        assert_eq!(
            test.why.as_ref().map(ToString::to_string).as_deref(),
            Some(why)
        );
        assert!(test.others.is_empty(), "{:?}", test.others);
    }
}
