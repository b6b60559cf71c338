//! Claims that are refused: of room, of having been tried, of what a firmware
//! can do.

use psci_bench::image::BASE_MAX;

use super::*;
use crate::board;
use crate::board::board::Verified;

/// The error for the board file `text`, and the line that it names.
fn told(text: &str) -> (usize, String) {
    let error = board::parse("b", text).expect_err("a wrong board");
    let error = error.to_string();
    let (place, reason) = error.split_once(": ").expect("place and reason");
    let line = place.strip_prefix("b:").expect("a line");
    (line.parse().expect("a number"), reason.to_owned())
}

#[test]
fn room_from_the_load_address_on() {
    // TF-A has 32 CPUs here, and QEMU's own PSCI 512.
    let need = BASE_MAX as u64 + ((64 + 512 * 32) << 10);
    let at = |address: u64| text().replacen("0x6000_0000", &format!("{address:#x}"), 1);
    assert!(board::parse("b", &at(0x8000_0000 - need)).is_ok());
    let (place, reason) = told(&at(0x8000_0000 - need + 0x1000));
    assert_eq!(place, line("load-address"));
    assert_eq!(
        reason,
        format!(
            "there are {} KiB from the load address on, and the payload needs {}",
            (need >> 10) - 4,
            need >> 10
        )
    );
    // The image must not reach into what is reserved behind it.
    let reserve = |base: u64| {
        let part = format!("[[reserved]]\nname = \"tee\"\nbase = {base:#x}\nsize = 0x1000\n[uart]");
        board::parse("b", &text().replacen("[uart]", &part, 1))
    };
    assert!(reserve(0x6000_0000 + BASE_MAX as u64).is_ok());
    let error = reserve(0x6000_0000 + BASE_MAX as u64 - 0x1000)
        .expect_err("in the image")
        .to_string();
    assert!(error.contains("in what tee has reserved"), "{error}");
}

#[test]
fn what_is_missing() {
    let without = |from: &str, to: &str| {
        let text = text();
        let (before, rest) = text.split_once(from).expect(from);
        let (_, after) = rest.split_once(to).expect(to);
        told(&format!("{before}{to}{after}")).1
    };
    assert!(without("[uart]", "\n#").contains("missing field `uart`"));
    assert!(without("[psci]", "\n#").contains("missing field `psci`"));
    assert!(without("level = 1", "\n").contains("missing field `level`"));
    assert!(without("max-cpus = 32", "\n").contains("missing field `max-cpus`"));
}

#[test]
fn where_it_was_run() {
    let text = text();
    let with = |from: &str, to: &str| told(&text.replacen(from, to, 1));
    let (_, reason) = with("title = ", "verified = \"yes\"\ntitle = ");
    assert!(reason.contains("unknown variant `yes`"), "{reason}");
    let board = board::parse("b", &text).expect("a good board");
    assert_eq!(board.verified(), Verified::Emulated);
    for word in ["hardware", "emulated", "no"] {
        let claim = format!("verified = \"{word}\"\ntitle = ");
        assert!(board::parse("b", &text.replacen("title = ", &claim, 1)).is_ok());
    }
    // Without a recipe for QEMU more has to be said.
    let (before, rest) = text.split_once("[qemu]").expect("a recipe");
    let bare = format!(
        "{before}{}",
        rest.split_once("memory-mib = 1024").expect("it").1
    );
    // All CPUs that are listed are used then.
    let bare = bare.replace("max-cpus = 8\n", "max-cpus = 32\n");
    let (place, reason) = told(&bare);
    assert_eq!(place, line("name = "));
    assert_eq!(reason, "verified is missing: \"hardware\" or \"no\"");
    let claim = |word: &str| {
        let claim = format!("verified = \"{word}\"\ntitle = ");
        bare.replacen("title = ", &claim, 1)
    };
    let (place, reason) = told(&claim("emulated"));
    assert_eq!(place, line("title = "));
    assert!(reason.contains("boards with a recipe for QEMU"), "{reason}");
    let (place, reason) = told(&claim("no"));
    assert_eq!(place, line("[firmware.builtin]") + 1);
    assert!(reason.starts_with("pmf is missing"), "{reason}");
    let whole = claim("no")
        .replace("max-cpus = 512", "max-cpus = 512\npmf = \"none\"")
        .replace("max-cpus = 32\n\n", "max-cpus = 32\npmf = \"linked\"\n\n");
    let board = board::parse("b", &whole).expect("a good board");
    assert_eq!(board.verified(), Verified::No);
}

#[test]
fn notes() {
    for (table, place) in [
        ("title = ", "title = "),
        ("max-cpus = 512", "max-cpus = 512"),
    ] {
        let with = |note: &str| text().replacen(table, &format!("note = \"{note}\"\n{table}"), 1);
        assert!(board::parse("b", &with(&"x".repeat(600))).is_ok());
        for note in ["", " ", r"two\nlines", "caf\u{e9}", &"x".repeat(601)] {
            let (at, reason) = told(&with(note));
            assert_eq!(at, line(place), "{note}");
            assert!(reason.contains("printable ASCII"), "{reason}");
        }
    }
}

#[test]
fn what_a_firmware_cannot_do_has_a_reason() {
    let text = text();
    let builtin = line("[firmware.builtin]");
    let (before, after) = text
        .split_once("[[firmware.builtin.idle-state]]")
        .expect("one");
    let (_, after) = after.split_once("level = 0").expect("its end");
    let none = format!("{before}{after}");
    let (place, reason) = told(&none);
    assert_eq!(place, builtin);
    assert_eq!(reason, "no idle-state and no note that says why");
    let why = "max-cpus = 512\nnote = \"It has none.\"";
    assert!(board::parse("b", &none.replace("max-cpus = 512", why)).is_ok());
    let off = text.replace("max-cpus = 512", "max-cpus = 512\ncpu-off = false");
    let (place, reason) = told(&off);
    assert_eq!(place, builtin);
    assert_eq!(reason, "cpu-off = false and no note that says why");
    for cpus in [0, 513] {
        let text = text.replace("max-cpus = 512", &format!("max-cpus = {cpus}"));
        let (place, reason) = told(&text);
        assert_eq!(place, line("max-cpus = 512"), "{cpus}: {reason}");
        assert_eq!(reason, "max-cpus is 1 to 512: so many CPUs there are");
    }
}

#[test]
fn one_format_is_no_choice() {
    let text = text();
    let of = |text: &str, state_id| -> Vec<u32> {
        let board = board::parse("b", text).expect("a good board");
        let states = board.firmware["tf-a"].idle_states(state_id);
        states.iter().map(|s| *s.power_state.get_ref()).collect()
    };
    // Only what is written, where that is all of one format.
    let (before, rest) = text.split_once("# Built with").expect("the other format");
    let (_, after) = rest.split_once("# QEMU's own").expect("its end");
    let original = format!("{before}# {after}");
    let values = [0x1, 0x1_0002, 0x101_0022, 0x201_0222];
    assert_eq!(of(&original, StateId::Original), values);
    assert_eq!(of(&original, StateId::Extended), values);
}
