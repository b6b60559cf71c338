//! How a lab starts the board.

use super::*;
use crate::board;
use crate::board::lab::Deploy;

#[test]
fn a_lab() {
    let with = |rest: &str| board::parse("board.toml", &format!("{}\n[lab]\n{rest}", text()));
    let line = text().lines().count() + 3;
    let good = "device-type = \"n1sdp\"\ndeploy = \"flasher\"\nrecovery = \"a/fip.bin\"\n\
                minutes = 30\nconsole = \"uart1\"\nprompt = \"Cmd>\"\n";
    let lab = with(good).expect("a good board").lab.expect("a lab");
    assert_eq!((lab.deploy, *lab.minutes.get_ref()), (Deploy::Flasher, 30));
    for (from, to, at, expected) in [
        ("n1sdp", "n1 sdp", 0, "device-type has letters"),
        ("flasher", "pigeon", 1, "unknown variant"),
        ("a/fip.bin", "../fip.bin", 2, "the name of a file in a zip"),
        (
            "a/fip.bin",
            "a\\\\fip.bin",
            2,
            "the name of a file in a zip",
        ),
        ("30", "0", 3, "minutes is 1 to 1440"),
        ("30", "1441", 3, "minutes is 1 to 1440"),
        ("uart1", "", 4, "console has letters"),
        ("Cmd>", "\\u0007", 5, "printable ASCII"),
        ("minutes", "hours", 3, "unknown field `hours`"),
    ] {
        let error = with(&good.replacen(from, to, 1)).expect_err(to).to_string();
        let place = format!("board.toml:{}: ", line + at);
        assert!(error.starts_with(&place), "{to}: {place}{error}");
        assert!(error.contains(expected), "{to}: {error}");
    }
}
