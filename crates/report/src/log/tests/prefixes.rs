//! Logs in which a tool has put a prefix before every line.

use suite::model::Verdict;
use suite::record::MARK;

use super::{LoggedRun, TFTF, read_one, read_runs, whole_log};

/// Returns the prefix of the line with this number.
pub(in crate::log) type Prefix = fn(usize) -> String;

/// Returns the time of a line as `HH:MM:SS`. The first lines are just before midnight.
fn time(line: usize) -> String {
    let second = (86_390 + line) % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Returns the day of the month, which has one digit at first.
fn day(line: usize) -> usize {
    9 + (86_390 + line) / 86_400
}

fn date(line: usize) -> String {
    format!("2026-01-{:02}", day(line))
}

/// The prefixes of tools that are in common use.
const TOOLS: [(&str, Prefix); 41] = [
    ("Jenkins", |n| format!("[{}T{}.123Z]  ", date(n), time(n))),
    ("Jenkins, a branch", |n| {
        format!("[{}T{}.123Z] [board 7] ", date(n), time(n))
    }),
    ("Jenkins, short", |n| format!("{}  ", time(n))),
    ("GitLab", |n| {
        format!("{}T{}.{n:06}Z 00O ", date(n), time(n))
    }),
    ("GitLab, both streams", |n| {
        let stream = ["00O", "01E", "0aO"][n % 3];
        format!("{}T{}.123456Z {stream} ", date(n), time(n))
    }),
    ("GitHub", |n| format!("{}T{}.1234567Z ", date(n), time(n))),
    ("gh run view --log", |n| {
        let mark = if n == 0 { "\u{feff}" } else { "" };
        format!(
            "build (4, x)\tRun board\t{mark}{}T{}.1234567Z ",
            date(n),
            time(n)
        )
    }),
    ("docker compose", |_| "board-1  | ".to_owned()),
    ("docker compose, color", |_| {
        "\x1b[36mboard-1   |\x1b[0m ".to_owned()
    }),
    ("docker compose --timestamps", |n| {
        format!("board-1  | {}T{}.{n:09}Z ", date(n), time(n))
    }),
    ("journald", |n| {
        format!("Jan {:2} {} host board[{}]: ", day(n), time(n), 990 + n)
    }),
    ("journald, short-iso", |n| {
        format!("{}T{}+0000 host-7 board[1234]: ", date(n), time(n))
    }),
    ("journald, short-precise", |n| {
        format!("Jan {:02} {}.{n:06} host board[1]: ", day(n), time(n))
    }),
    ("journald, short-full", |n| {
        let weekday = if day(n) == 9 { "Fri" } else { "Sat" };
        format!("{weekday} {} {} UTC host board[1]: ", date(n), time(n))
    }),
    ("journald, short-monotonic", |n| {
        format!("[{:5}.{n:06}] host board[1]: ", 9_990 + n)
    }),
    ("Buildkite", |n| {
        format!("\x1b_bk;t={}\x07", 1_700_000_000_000 + n)
    }),
    ("KernelCI", |n| format!("{}.{n:06}  ", time(n))),
    ("ts", |n| format!("Jan {:02} {} ", day(n), time(n))),
    ("ts -s %.s", |n| format!("{}.123456 ", n)),
    ("ts %.s", |n| format!("{}.{n:06} ", 1_767_348_672 + n)),
    ("ts -i %H:%M:%.S", |n| {
        format!("00:00:{:02}.000012 ", n % 60)
    }),
    ("minicom", |n| format!("[{} {}] ", date(n), time(n))),
    ("tio", |n| format!("[{}.{:03}] ", time(n), n % 1000)),
    ("grabserial", |n| format!("[{}.123456 0.000123] ", n)),
    ("the kernel", |n| format!("[{:5}.{n:06}] ", 98 + n)),
    ("Tera Term", |n| {
        format!("[Fri Jan {:2} {}.123 2026] ", day(n), time(n))
    }),
    ("conserver", |n| {
        format!("[Fri Jan {:2} {} 2026]", day(n), time(n))
    }),
    ("12 hours", |n| {
        let half = if n < 10 { "PM" } else { "AM" };
        format!("1/{}/2026 {}:59 {half} | ", day(n), 12 - n % 12)
    }),
    ("a time zone", |n| {
        format!("[{}T{}+01:00] ", date(n), time(n))
    }),
    ("no brackets", |n| format!("{} {} ", date(n), time(n))),
    ("an angle", |n| format!("{}.345> ", time(n))),
    ("arrow", |n| format!("{}.345 -> ", time(n))),
    ("ISO 8601 without zero fractions", |n| match n % 3 {
        0 => format!("{}T{}Z ", date(n), time(n)),
        _ => format!("{}T{}.{n}Z ", date(n), time(n)),
    }),
    ("Zephyr", |n| {
        format!("[{},{:03}] <inf> board: ", time(n), n % 1000)
    }),
    ("syslog", |n| {
        format!("<14>Jan {:2} {} host board[7]: ", day(n), time(n))
    }),
    ("syslog, RFC 5424", |n| {
        format!("<14>1 {}T{}.003Z host board 7 ID{n} - ", date(n), time(n))
    }),
    ("multilog", |n| format!("@400000006957a1b0{n:08x} ")),
    ("Kubernetes", |n| {
        format!("{}T{}.{n:09}Z stdout F ", date(n), time(n))
    }),
    ("nl", |n| format!("{:6}\t", n + 1)),
    ("two stamps", |n| format!("[{}] [    0.{n:06}] ", time(n))),
    ("Buildkite, ESC removed", |n| {
        format!("_bk;t={}\x07", 1_700_000_000_000 + n)
    }),
];

/// Returns the log with a prefix before each line.
pub(in crate::log) fn prefixed(log: &str, prefix: Prefix, ending: &str) -> String {
    let lines = log.lines().enumerate();
    let lines = lines.map(|(number, line)| format!("{}{line}{ending}", prefix(number)));
    lines.collect()
}

/// Returns the log as if the run had been cut short after its `end` record.
fn cut_short(log: &str) -> String {
    log.replace("psci-bench: PASS", "psci-bench: INCOMPLETE: PASS")
}

fn assert_equal(logged: &LoggedRun, plain: &LoggedRun, name: &str) {
    assert!(logged.run == plain.run, "{name}");
    assert_eq!(logged.lacks(), plain.lacks(), "{name}");
    assert_eq!(logged.doubts(), plain.doubts(), "{name}");
    assert_eq!(logged.header, plain.header, "{name}");
    assert_eq!(logged.firmware, plain.firmware, "{name}");
    assert_eq!(logged.verdict_text(), plain.verdict_text(), "{name}");
}

#[test]
fn prefix_of_any_tool_is_removed() {
    let tftf = format!("{TFTF}NOTICE:  Exiting tests.\n");
    let whole = whole_log();
    let logs = [whole.clone(), cut_short(&whole), tftf];
    for log in &logs {
        let plain = read_one(log);
        for (name, prefix) in TOOLS {
            for ending in ["\n", "\r\n", "\r\r\n"] {
                let logged = read_one(prefixed(log, prefix, ending));
                assert_equal(&logged, &plain, name);
            }
        }
    }
}

/// A tool may also remove trailing blanks, wrap lines before it adds the prefix, or log other
/// sources too.
#[test]
fn prefix_is_removed_from_wrapped_and_mixed_lines() {
    let plain = read_one(whole_log());
    // Nothing separates the last tool's numbers from the digits at the start of a wrapped line.
    for (name, prefix) in &TOOLS[..TOOLS.len() - 1] {
        let (name, prefix) = (*name, *prefix);
        let wrapped = super::broken(&whole_log(), 132);
        assert_equal(&read_one(prefixed(&wrapped, prefix, "\n")), &plain, name);
        let log = prefixed(&whole_log(), prefix, "\n");
        let trimmed = log.lines().map(|it| it.trim_end().to_owned() + "\n");
        assert_equal(&read_one(trimmed.collect::<String>()), &plain, name);
        let mixed = log
            .lines()
            .map(|it| format!("{it}\nother-1 | [7] hello\n12:00 psci-bench starts soon\n"));
        assert_equal(&read_one(mixed.collect::<String>()), &plain, name);
        let both = format!("{log}{}", prefixed(&whole_log(), |_| "7> ".into(), "\n"));
        let runs = read_runs(both);
        assert_eq!(runs.len(), 2, "{name}");
        runs.iter().for_each(|it| assert_equal(it, &plain, name));
    }
}

/// GitLab's runner may write a line in parts.
#[test]
fn parts_of_a_line_are_joined_as_the_prefix_says() {
    let in_parts = |log: &str, width: usize| {
        let lines = log.lines().flat_map(|line| {
            let parts = line.as_bytes().chunks(width).enumerate();
            let parts = parts.map(|(place, part)| {
                let mark = if place == 0 { ' ' } else { '+' };
                let part = String::from_utf8_lossy(part);
                format!("2026-01-02T03:04:05.123456Z 00O{mark}{part}\n")
            });
            parts.collect::<Vec<String>>()
        });
        lines.collect::<String>()
    };
    for log in [whole_log(), cut_short(&whole_log()), TFTF.to_owned()] {
        let plain = read_one(&log);
        for width in [32, 40, 64, 200] {
            assert_equal(&read_one(in_parts(&log, width)), &plain, &width.to_string());
        }
        // The mark does not join whole lines.
        let marked = prefixed(
            &log,
            |_| "2026-01-02T03:04:05.123456Z 00O+".to_owned(),
            "\n",
        );
        assert_equal(&read_one(marked), &plain, "+");
    }
}

/// Text that has another prefix than the run's lines is not the run's, except that a last line may
/// show that the run was cut short.
#[test]
fn line_with_another_prefix_is_not_read() {
    let whole = whole_log();
    let (run, closing) = whole.rsplit_once("psci-bench: ").expect("a last line");
    let closing = format!("psci-bench: {closing}");
    let stamp: Prefix = |n| format!("[{}] ", time(n));
    let run = prefixed(run, stamp, "\n");
    for prefix in ["x ", "[10:11:12] [0.123] ", "[10:11:12]", "10:11:12 "] {
        let pass = read_one(format!("{run}{prefix}{closing}\n"));
        assert!(pass.closing.is_none(), "{prefix}");
        assert!(!pass.is_complete() && pass.verdict().is_none(), "{prefix}");
        for log in [&run, &whole.replace(&closing, "")] {
            let cut = read_one(format!("{log}{prefix}{}\n", cut_short(&closing)));
            assert_ne!(cut.verdict(), Some(Verdict::Pass), "{prefix}");
            assert!(!cut.is_complete(), "{prefix}");
        }
    }
    // Without records, only the last line has a verdict.
    let lines: String = run
        .split_inclusive('\n')
        .filter(|line| !line.contains(MARK))
        .collect();
    let hidden = read_one(format!("{lines}[10:11:12] > {closing}\n"));
    assert!(hidden.verdict().is_none() && !hidden.is_complete());
}

/// A test that failed although all tests in the log passed is one that the log does not contain.
#[test]
fn failed_test_counted_behind_another_prefix_is_missing() {
    let tally = "Tests Failed  : 1";
    let log = TFTF.replace("Failed\n", "Passed\n").replace(tally, "");
    let complete = format!("{log}NOTICE:  Exiting tests.\n");
    assert!(read_one(&complete).is_complete());
    for prefix in ["x ", "[10:11:12] ", "[10:11:12] > "] {
        let lacks = read_one(format!("{log}{prefix}{tally}\nNOTICE:  Exiting tests.\n")).lacks();
        assert!(
            lacks.concat().contains("TFTF counts 1 test failed"),
            "{lacks:?}"
        );
    }
}

/// A prefix must be on more than one line.
#[test]
fn text_before_a_single_line_is_not_a_prefix() {
    for glued in ["firmware says ", "[10:11:12] ", "INFO:    BL31: "] {
        let log = format!("{glued}> Executing 'CPU suspend on all cores in sequence'\n{TFTF}");
        let runs = read_runs(log);
        assert_eq!(runs.len(), 1, "{glued}");
        assert_equal(&runs[0], &read_one(TFTF), glued);
    }
}

/// Blanks before the first line alone are not the prefix of the lines after it, which start with
/// blanks of their own.
#[test]
fn indented_first_line_is_not_a_prefix() {
    let (whole, plain) = (whole_log(), read_one(whole_log()));
    let indented = read_one(format!(
        "    NOTICE:  BL1: v2.12.1(release):v2.12.1\n{whole}"
    ));
    assert_equal(&indented, &plain, "indented");
}

#[test]
fn log_after_a_cut_one_has_a_prefix_of_its_own() {
    let (whole, plain) = (whole_log(), read_one(whole_log()));
    let cut = whole.lines().count() / 2;
    let head: String = whole.split_inclusive('\n').take(cut).collect();
    for (name, prefix) in TOOLS {
        let runs = read_runs(format!("{head}{}", prefixed(&whole, prefix, "\n")));
        assert_eq!(runs.len(), 2, "{name}");
        assert!(!runs[0].is_complete(), "{name}");
        assert_equal(&runs[1], &plain, name);
    }
}
