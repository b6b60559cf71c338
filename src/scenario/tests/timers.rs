//! `timer_latency` against the fake machine.

use std::collections::BTreeMap;

use super::loops::records;
use super::*;
use crate::measure::Fault;
use crate::scenario::fake::timers::PROLOGUE;

/// Ticks in a microsecond of the fake, times two: it has 62.5 MHz.
const TWO_US: u64 = 125;

/// The fields of a record.
fn fields(record: &str) -> BTreeMap<&str, &str> {
    let words = record.split_ascii_whitespace();
    words.filter_map(|word| word.split_once('=')).collect()
}

fn number(fields: &BTreeMap<&str, &str>, key: &str) -> u64 {
    fields.get(key).map_or(0, |n| n.parse().expect("a number"))
}

/// The lines that begin like that, by their columns.
fn columns<'t>(text: &'t str, name: &str) -> Vec<Vec<&'t str>> {
    text.lines()
        .filter(|line| line.split('|').next() == Some(name))
        .map(|line| line.split('|').skip(1).map(str::trim).collect())
        .collect()
}

/// Holds every point against its histogram, and returns how many there are.
fn check_histograms(text: &str) -> usize {
    let key = |f: &BTreeMap<&str, &str>| {
        ["mpidr", "how", "var", "metric"].map(|key| std::string::String::from(f[key]))
    };
    let mut sums: BTreeMap<_, u64> = BTreeMap::new();
    let mut ends: BTreeMap<_, u64> = BTreeMap::new();
    for record in records(text, "hist") {
        let f = fields(&record);
        let counts: Vec<u64> = f["c"]
            .split(',')
            .map(|c| c.parse().expect("a count"))
            .collect();
        let (from, step) = (number(&f, "from"), number(&f, "step"));
        // In order, and none twice.
        let end = ends.entry(key(&f)).or_default();
        assert!(from >= *end, "{record}");
        *end = from + step * counts.len() as u64;
        assert_ne!(
            (counts.first(), counts.last()),
            (Some(&0), Some(&0)),
            "{record}"
        );
        *sums.entry(key(&f)).or_default() += counts.iter().sum::<u64>();
    }
    let points = records(text, "point");
    let handlers = points.iter().map(|point| fields(point));
    for point in handlers.filter(|f| f["metric"] == "handler") {
        assert_eq!(
            sums.remove(&key(&point)),
            Some(number(&point, "n")),
            "{point:?}"
        );
    }
    assert!(sums.is_empty(), "{sums:?}");
    points.len()
}

#[test]
fn each_timer_alone_and_all_at_once_under_each_load() {
    let mut fake = Fake::new(3);
    let args = "only=timer_latency duration=2 stress=write,idle period=1000";
    let (text, verdict) = run(&mut fake, args, 3);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    // To the vector and to the handler, of three CPUs, alone and all.
    assert_eq!(check_histograms(&text), 2 * 3 * 2 * 2);
    for point in records(&text, "point") {
        let f = fields(&point);
        assert_eq!(
            (number(&f, "n"), number(&f, "per"), number(&f, "lost")),
            (2000, 1, 0)
        );
    }
    let first = "t=13 mpidr=0x0 how=alone var=idle metric=entry per=1 n=2000 min=30 med=32 \
                 p99=36 max=36 mad=2";
    assert_eq!(records(&text, "point")[0], first);
    let plan = records(&text, "plan").join(" ");
    let asked = "duration=2 period=1000 footprint=4194304 stress=idle,write timers=alone,all";
    assert!(plan.contains(asked), "{plan}");
    // Two windows of a second in each stretch.
    assert_eq!(columns(&text, "RTD").len(), 2 * (3 + 1) * 2);
    assert_eq!(columns(&text, "RTS").len(), 2 * (3 + 1));
    assert_eq!(columns(&text, "RTH").len(), 2 * (3 + 1));
    assert!(text.lines().all(|line| line.len() <= 120));
    // All were on all the time, and go off in the end.
    assert!(fake.asked.iter().all(|round| round.who == Who::All));
    let (last, others) = fake.asked.split_last().expect("rounds");
    assert_eq!((last.action, last.after), (Action::None, After::Off));
    assert!(
        others
            .iter()
            .all(|r| (r.action, r.after) == (Action::Expire, After::Stay))
    );
}

#[test]
fn lines_in_the_layout_that_others_read() {
    let mut fake = Fake::new(1).with_lateness(|_, k| match k {
        0 => 5 * TWO_US - PROLOGUE,
        1 => 40 * TWO_US - PROLOGUE,
        _ => 6 * TWO_US - PROLOGUE,
    });
    let args = "only=timer_latency duration=3 stress=idle period=1000000 timers=all";
    let (text, _) = run(&mut fake, args, 1);
    let at = text.find("RTT|").expect("lines");
    let lines: Vec<&str> = text[at..].lines().take(7).collect();
    // Each window is one expiry, its first.
    assert_eq!(
        lines,
        [
            "RTT|  00:00:00  (timer interrupt to handler in us, 1000000 us period, all CPUs, idle)",
            "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst",
            "RTD|     10.000|     10.000|     10.000|       0|     0|     10.000|     10.000",
            "RTD|     10.000|     10.000|     10.000|       0|     0|     10.000|     10.000",
            "RTD|     10.000|     10.000|     10.000|       0|     0|     10.000|     10.000",
            "---|-----------|-----------|-----------|--------|------|-----------------------",
            "RTS|     10.000|     10.000|     10.000|       0|     0|    00:00:03/00:00:03",
        ]
    );
}

#[test]
fn best_and_worst_are_those_of_the_stretch_so_far() {
    let mut window = 0;
    let mut fake = Fake::new(1).with_lateness(move |_, k| {
        window += u64::from(k == 0);
        [50, 30, 70][window as usize - 1] * TWO_US / 2 - PROLOGUE + 1
    });
    let args = "only=timer_latency duration=3 stress=idle timers=all";
    let (text, _) = run(&mut fake, args, 1);
    let data = columns(&text, "RTD");
    let best: Vec<_> = data.iter().map(|c| (c[0], c[2], c[5], c[6])).collect();
    assert_eq!(
        best,
        [
            ("50.016", "50.016", "50.016", "50.016"),
            ("30.016", "30.016", "30.016", "50.016"),
            ("70.016", "70.016", "30.016", "70.016"),
        ]
    );
    assert_eq!(
        columns(&text, "RTS")[0][..3],
        ["30.016", "50.016", "70.016"]
    );
}

#[test]
fn overruns_are_counted_and_are_no_samples() {
    // 2.5 ms late once a window: two more are due by then.
    let mut fake =
        Fake::new(2).with_lateness(|cpu, k| if (cpu, k) == (1, 100) { 156_250 } else { 50 });
    let args = "only=timer_latency duration=3 stress=idle";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Pass);
    check_histograms(&text);
    for point in records(&text, "point") {
        let f = fields(&point);
        let lost = if f["mpidr"] == "0x1" { 6 } else { 0 };
        assert_eq!(
            (number(&f, "n"), number(&f, "lost")),
            (3000 - lost, lost),
            "{point}"
        );
    }
    let overruns: Vec<_> = columns(&text, "RTS").iter().map(|c| c[3]).collect();
    assert_eq!(overruns, ["0", "6", "6"]);
    assert!(!text.contains("Overruns: "), "{text}");
}

#[test]
fn many_overruns_are_said_and_fail_nothing() {
    // Nine of ten, and on the other CPU one of ten, which is not yet more.
    let late = |cpu, k| match (cpu, k % 10) {
        (1, _) => 9 * 500 * TWO_US,
        (_, 0) => 500 * TWO_US,
        _ => 50,
    };
    let args = "only=timer_latency duration=1 stress=idle timers=all period=1000";
    let (text, verdict) = run(&mut Fake::new(2).with_lateness(late), args, 2);
    assert_eq!(verdict, Verdict::Pass);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "* Overruns: on CPU 0.1 900 of 1000 expiries were missed (all CPUs at once, idle); \
                min, median and max are of the others only. ";
    assert!(plain.contains(said), "{text}");
    assert!(!plain.contains("More than a tenth"), "{text}");
    // Both, by turns and at once.
    let late = |cpu, _| (1 + cpu as u64) * 500 * TWO_US;
    let args = "only=timer_latency duration=1 stress=idle period=1000";
    let (text, _) = run(&mut Fake::new(2).with_lateness(late), args, 2);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(plain.matches("Overruns: on CPU 0.1 6").count(), 1, "{text}");
    assert!(plain.contains("missed in 3 more of these"), "{text}");
}

#[test]
fn a_threshold_ends_it_and_fails() {
    let mut fake =
        Fake::new(2).with_lateness(|cpu, k| if (cpu, k) == (1, 500) { 6_250 } else { 50 });
    let args = "only=timer_latency duration=60 stress=idle threshold=100";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Fail);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains(
            "the timer of CPU 0.1 was handled 100.32 us late, more than threshold= allows"
        ),
        "{text}"
    );
    let test = records(&text, "test").join(" ");
    assert!(
        test.contains("why=timer why_cpu=1 fault=late ticks=6270"),
        "{test}"
    );
    // The first CPU alone to its end, the second up to there, no more.
    assert_eq!(columns(&text, "RTS").len(), 2);
    assert!(text.contains("    00:01:00/00:01:00") && text.contains("    00:00:01/00:01:00"));
    check_histograms(&text);
    let points = records(&text, "point");
    let last = fields(points.last().expect("points"));
    assert_eq!((number(&last, "n"), number(&last, "max")), (501, 6_270));
    let (last, _) = fake.asked.split_last().expect("rounds");
    assert_eq!((last.action, last.after), (Action::None, After::Off));
}

#[test]
fn what_goes_wrong_with_a_timer_is_named() {
    for (fault, record, words) in [
        (
            Fault::Stray(40),
            "fault=stray intid=40",
            "was left as interrupt 40 came",
        ),
        (
            Fault::Silent,
            "fault=silent",
            "raised no interrupt any more",
        ),
        (
            Fault::Spurious,
            "fault=spurious",
            "interrupts came that none was behind",
        ),
    ] {
        let mut fake = Fake::new(2).with_fault(1, 3, fault);
        let args = "only=timer_latency duration=5 stress=idle timers=all";
        let (text, verdict) = run(&mut fake, args, 2);
        assert_eq!(verdict, Verdict::Fail, "{fault:?}");
        assert!(text.contains(words), "{text}");
        assert!(records(&text, "test").join(" ").contains(record), "{text}");
        assert_eq!(columns(&text, "RTD").len(), 4);
        // Three windows, and three expiries: the fourth was not measured.
        let time = columns(&text, "RTS")[0].last().copied();
        assert_eq!(time, Some("00:00:03/00:00:05"));
        check_histograms(&text);
    }
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if (round, cpu) == (0, 0) {
            outcome.end = End::Pending;
        }
    });
    let (text, verdict) = run(&mut fake, "only=timer_latency timers=all", 2);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        text.contains("an interrupt was pending that did not go away"),
        "{text}"
    );
}

#[test]
fn a_lost_cpu_is_the_end_of_it() {
    let mut fake = Fake::new(3).with(|round, cpu, outcome| {
        if (round, cpu) == (1, 2) {
            outcome.end = End::Lost(LOSS);
        }
    });
    let (text, verdict) = run(&mut fake, "only=timer_latency timers=all duration=9", 3);
    assert_eq!(verdict, Verdict::Fail);
    assert!(text.contains("CPU 0.2 was lost"), "{text}");
    check_histograms(&text);
    // Those that are left keep what they have.
    assert_eq!(records(&text, "point").len(), 2 * 2);
}

#[test]
fn skipped_without_a_gic() {
    let mut fake = Fake::new(2).without_gic();
    let (text, verdict) = run(&mut fake, "only=timer_latency", 2);
    assert_ne!(verdict, Verdict::Pass);
    assert!(
        text.contains("Skipped: no GIC, and so no interrupt of a timer"),
        "{text}"
    );
    assert!(fake.asked.is_empty() && columns(&text, "RTT").is_empty());
}

#[test]
fn without_dc_zva_it_is_left_out_and_said() {
    let mut fake = Fake::new(1).without_zero();
    let (text, verdict) = run(
        &mut fake,
        "only=timer_latency stress=idle,zero timers=all",
        1,
    );
    assert_eq!(verdict, Verdict::Pass);
    assert!(text.contains("DC ZVA is prohibited here"), "{text}");
    assert!(
        records(&text, "point")
            .iter()
            .all(|point| point.contains("var=idle "))
    );
    let (text, verdict) = run(&mut fake, "only=timer_latency stress=zero", 1);
    assert_ne!(verdict, Verdict::Pass);
    assert!(
        text.contains("Skipped: DC ZVA is prohibited here"),
        "{text}"
    );
    let (text, _) = run(&mut fake, "only=timer_latency stress=write", 1);
    assert!(!text.contains("DC ZVA"), "{text}");
}

#[test]
fn a_lone_cpu_has_nobody_to_lay_a_load_on() {
    let mut fake = Fake::new(1);
    let (text, verdict) = run(&mut fake, "only=timer_latency stress=idle,clean", 1);
    assert_eq!(verdict, Verdict::Pass);
    let how = |f: &BTreeMap<&str, &str>| std::format!("{} {}", f["how"], f["var"]);
    let points = records(&text, "point");
    let hows: Vec<_> = points.iter().map(|p| how(&fields(p))).collect();
    let two = |how| [how, how];
    assert_eq!(
        hows,
        [two("alone idle"), two("all idle"), two("all clean")].concat()
    );
}

#[test]
fn time_is_told_to_the_nearest_second() {
    let mut fake = Fake::new(1);
    let args = "only=timer_latency stress=idle timers=all duration=4000 period=300000";
    let (text, _) = run(&mut fake, args, 1);
    let sums = columns(&text, "RTS");
    assert_eq!(sums[0].last(), Some(&"01:06:40/01:06:40"));
}

#[test]
fn headings_come_again() {
    let mut fake = Fake::new(1);
    let args = "only=timer_latency stress=idle timers=all duration=50 period=100000";
    let (text, _) = run(&mut fake, args, 1);
    assert_eq!(
        (columns(&text, "RTD").len(), columns(&text, "RTH").len()),
        (50, 3)
    );
}

#[test]
fn memory_as_asked_for() {
    let needs = |args: &str| Needs::of(&Plan::parse(args).expect("a plan"), 4).expect("needs");
    let none = needs("");
    assert_eq!((none.tallies, none.buffer), (0, 0));
    let idle = needs("only=timer_latency stress=idle timers=all");
    assert_eq!((idle.tallies, idle.buffer, idle.histograms), (4, 0, 4));
    let most = needs("only=timer_latency stress=write footprint=16M");
    assert_eq!((most.buffer, most.points), (16 << 20, 16));
}
