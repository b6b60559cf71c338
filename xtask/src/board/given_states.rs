//! Idle states that the command line gives, for the device tree of a board
//! whose file does not know the firmware's.

use anyhow::{Result, bail};
use clap::Args;
use toml::Spanned;

use super::board::Board;
use super::firmware::{Firmware, Format, IdleState};
use super::state_id::StateId;

/// The idle states that are wished for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct GivenStates {
    /// Format of the power_state values in the device tree [default: the
    /// firmware's, else the board file's]. Without --core, the tree has the
    /// states of this format that the board file names.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "dtb")]
    pub state_format: Option<Format>,
    /// power_state of core power-down: the device tree has this state, and that
    /// of --deepest, instead of the board file's.
    #[arg(long, value_name = "0x…", value_parser = power_state, conflicts_with = "dtb")]
    pub core: Option<u32>,
    /// power_state of the deepest power-down.
    #[arg(long, value_name = "0x…", value_parser = power_state, requires = "core")]
    pub deepest: Option<u32>,
}

fn power_state(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let value = u32::from_str_radix(digits, 16).ok();
    // from_str_radix takes a sign.
    let value = value.filter(|_| !digits.starts_with('+'));
    value.ok_or_else(|| "expected 32 bits in hexadecimal, such as 0x40000002".into())
}

impl GivenStates {
    /// Returns the states of the device tree of `board` with `firmware`, built
    /// for `state_id`.
    ///
    /// # Errors
    /// When a value is not of the format, or is not what the option is for; or
    /// when the board file has no state of the format.
    pub fn choose(
        &self,
        board: &Board,
        firmware: &Firmware,
        state_id: StateId,
    ) -> Result<Vec<IdleState>> {
        let own = firmware.idle_states(state_id);
        let format = self.state_format;
        let Some(core) = self.core else {
            let Some(format) = format else {
                return Ok(own);
            };
            let states = firmware.of_format(format);
            if states.is_empty() {
                bail!(
                    "--state-format {}: the board file of {} has no idle state of this format; \
                     give the values by --core and --deepest",
                    format.name(),
                    board.title
                );
            }
            return Ok(states);
        };
        let format = format
            .or(own.first().map(|state| state.format))
            .unwrap_or(state_id.into());
        let mut states = vec![state(firmware, format, "core", core)?];
        if let Some(deepest) = self.deepest.filter(|deepest| *deepest != core) {
            states.push(state(firmware, format, "deepest", deepest)?);
        }
        Ok(states)
    }
}

/// Returns the power-down state `value` of the option `--name`: the board file's
/// own, if it has such a one.
fn state(firmware: &Firmware, format: Format, name: &str, value: u32) -> Result<IdleState> {
    let layout = format.layout();
    let (is_core, said) = (name == "core", format.name());
    let wrong = format!("--{name} {value:#x}");
    if !layout.accepts(value) {
        bail!("{wrong}: it sets bits that the {said} format reserves; see --state-format");
    }
    if !layout.is_powerdown(value) {
        bail!("{wrong}: this is no power-down state in the {said} format; see --state-format");
    }
    let level = layout.level(value).or(is_core.then_some(0));
    if let Some(level @ 1..) = level.filter(|_| is_core) {
        bail!("{wrong}: this is a state of power level {level}, and a core's is of level 0");
    }
    let all = firmware.idle_state.iter().map(Spanned::get_ref);
    let mut same = all.clone();
    if let Some(known) = same.find(|it| it.format == format && *it.power_state.get_ref() == value) {
        return Ok(known.clone());
    }
    // The value does not say whether the timers stop. To assume that they run on
    // would cost a CPU that nothing wakes.
    let mut alike = all.filter(|it| it.is_powerdown() && (!is_core || it.level == Some(0)));
    Ok(IdleState {
        name: name.to_owned(),
        power_state: Spanned::new(0..0, value),
        level,
        format,
        local_timer_stop: alike.any(|it| it.local_timer_stop),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board;
    use crate::setup::workspace::Workspace;

    type Said = Result<Vec<(u32, Option<u8>, bool)>, String>;

    fn choose(board: &str, format: Option<Format>, core: u32, deepest: u32) -> Said {
        let workspace = Workspace::find().expect("the repository");
        let board = board::load(&workspace, board).expect("a good board");
        let firmware = board.firmware(board.default_firmware.get_ref());
        let given = GivenStates {
            state_format: format,
            core: (core != 0).then_some(core),
            deepest: (deepest != 0).then_some(deepest),
        };
        let states = given.choose(&board, firmware.expect("it"), StateId::Original);
        let states = states.map_err(|error| error.to_string())?;
        let seen = |it: &IdleState| (*it.power_state.get_ref(), it.level, it.local_timer_stop);
        Ok(states.iter().map(seen).collect())
    }

    #[test]
    fn values_of_the_format_make_states() {
        let (original, extended) = (Some(Format::Original), Some(Format::Extended));
        let core = (0x1_0000, Some(0), false);
        let stops = [(0x1_0001, Some(0), true), (0x101_0000, Some(1), true)];
        for (board, format, values, states) in [
            // The extended format has no level; the board file's states do.
            (
                "qemu",
                extended,
                [0x4000_0002, 0x4000_0123],
                &[(0x4000_0002, Some(0), false), (0x4000_0123, None, false)][..],
            ),
            (
                "qemu",
                extended,
                [0x4000_0002, 0x4000_0022],
                &[(0x4000_0002, Some(0), false), (0x4000_0022, Some(1), false)],
            ),
            ("qemu", None, [0x1_0000; 2], &[core]),
            // In all states of this board file the timers stop; it has not 0x10001.
            ("rk3399", original, [0x1_0001, 0x101_0000], &stops),
        ] {
            let [first, second] = values;
            assert_eq!(
                choose(board, format, first, second).as_deref(),
                Ok(states),
                "{values:x?}"
            );
        }
        assert_eq!(choose("qemu", extended, 0, 0).map(|all| all.len()), Ok(4));
    }

    #[test]
    fn what_is_not_of_the_format_is_refused_by_name() {
        let extended = Some(Format::Extended);
        for (board, format, values, said) in [
            (
                "qemu",
                None,
                [0x4000_0002, 0],
                "--core 0x40000002: it sets bits that the original",
            ),
            (
                "qemu",
                extended,
                [0x1_0002, 0],
                "--core 0x10002: this is no power-down state in",
            ),
            (
                "qemu",
                None,
                [0x101_0022, 0],
                "--core 0x1010022: this is a state of power level 1",
            ),
            (
                "qemu",
                None,
                [0x1_0002, 0x1],
                "--deepest 0x1: this is no power-down state in the",
            ),
            (
                "juno",
                extended,
                [0, 0],
                "--state-format extended: the board file of Arm Juno",
            ),
        ] {
            let [core, deepest] = values;
            let error = choose(board, format, core, deepest).expect_err(said);
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(power_state("0x40000222"), Ok(0x4000_0222));
        for wrong in ["40000222", "0x", "0x+1", "0x140000222", "deep"] {
            power_state(wrong).expect_err(wrong);
        }
    }
}
