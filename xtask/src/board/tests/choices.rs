//! The CPUs and idle states of the made-up board.

use crate::board::{self, StateFormat};

const GOOD: &str = include_str!("board.toml");

#[test]
fn the_first_cpus_are_in_clusters() {
    let board = board::parse("board.toml", GOOD).expect("a good board");
    assert_eq!(board.clusters(3).expect("three"), [vec![0, 1], vec![2]]);
    let all = board.clusters(32).expect("all");
    assert_eq!((all.len(), all.last()), (16, Some(&vec![0x10e, 0x10f])));
    for count in [0, 33] {
        let error = board
            .clusters(count)
            .expect_err("too few or many")
            .to_string();
        assert_eq!(error, format!("made-up has 1 to 32 CPUs, and not {count}"));
    }
}

#[test]
fn idle_states_have_the_format_that_the_firmware_was_built_for_if_there_is_a_choice() {
    let original = [0x1_0002, 0x101_0022];
    let is_only = "format = \"extended\"\npower-state = 0x4000_0022\nlevel = 1";
    let only = "power-state = 0x0001_0003\nlevel = 0";
    let other = GOOD.replace("\"cluster-off\"\nformat", "\"other\"\nformat");
    for (text, extended) in [
        (GOOD.to_owned(), vec![0x4000_0022]),
        (
            other.replace(is_only, only),
            vec![0x1_0002, 0x101_0022, 0x1_0003],
        ),
    ] {
        let board = board::parse("board.toml", &text).expect("a good board");
        let firmware = board.firmware("tf-a").expect("there");
        let values = |format| -> Vec<u32> {
            let states = firmware.idle_states(format);
            states.iter().map(|state| state.power_state).collect()
        };
        assert_eq!(values(StateFormat::Original)[..2], original);
        assert_eq!(values(StateFormat::Extended), extended);
        let error = board.firmware("uefi").expect_err("none").to_string();
        assert_eq!(
            error,
            "made-up has no firmware \"uefi\"; it has: tf-a, tf-a-stock"
        );
    }
}
