//! Idle states that the command line gives, for the device tree of a board
//! whose file does not know the firmware's.

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use psci_bench::spec::psci::StateFormat;
use psci_bench::spec::words::Word;

use super::board::Board;
use super::firmware::{Firmware, IdleState};

/// The options that choose the idle states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct GivenStates {
    /// Format of the power_state values in the device tree [default: the
    /// firmware's, else the board file's]. Without --core, the tree has the
    /// states of this format that the board file names.
    #[arg(long, value_parser = format(), value_name = "FORMAT", conflicts_with = "dtb")]
    pub state_format: Option<StateFormat>,
    /// power_state of core power-down: the device tree has this state, and that
    /// of --deepest, instead of the board file's.
    #[arg(long, value_name = "0x…", value_parser = power_state, conflicts_with = "dtb")]
    pub core: Option<u32>,
    /// power_state of the deepest power-down.
    #[arg(long, value_name = "0x…", value_parser = power_state, requires = "core")]
    pub deepest: Option<u32>,
}

fn format() -> impl TypedValueParser<Value = StateFormat> {
    let values = PossibleValuesParser::new([
        PossibleValue::new("original").help("StateID, type and power level"),
        PossibleValue::new("extended").help("StateID and type"),
    ]);
    values.map(|word| StateFormat::from_word(&word).unwrap_or_default())
}

fn power_state(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let value = u32::from_str_radix(digits, 16).ok();
    // from_str_radix takes a sign.
    let value = value.filter(|_| !digits.starts_with('+'));
    value.ok_or_else(|| "expected 32 bits in hexadecimal, such as 0x40000002".into())
}

impl GivenStates {
    /// Returns the states of the device tree of `board` with `firmware`, built for the format
    /// `built`.
    pub(crate) fn choose(
        &self,
        board: &Board,
        firmware: &Firmware,
        built: StateFormat,
    ) -> Result<Vec<IdleState>> {
        let own = firmware.idle_states(built);
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
        let format = format.or(own.first().map(|state| state.format));
        let format = format.unwrap_or(built);
        let mut states = vec![state(firmware, format, "core", core)?];
        if let Some(deepest) = self.deepest.filter(|deepest| *deepest != core) {
            states.push(state(firmware, format, "deepest", deepest)?);
        }
        Ok(states)
    }
}

/// Returns the power-down state `value` of the option `--name`: the board file's
/// own, if it has such a one.
fn state(firmware: &Firmware, format: StateFormat, name: &str, value: u32) -> Result<IdleState> {
    let (is_core, said) = (name == "core", format.name());
    let wrong = format!("--{name} {value:#x}");
    if !format.accepts(value) {
        bail!("{wrong}: it sets bits that the {said} format reserves; see --state-format");
    }
    if !format.is_powerdown(value) {
        bail!("{wrong}: this is no power-down state in the {said} format; see --state-format");
    }
    let level = format.level(value).or(is_core.then_some(0));
    if let Some(level @ 1..) = level.filter(|_| is_core) {
        bail!("{wrong}: this is a state of power level {level}, and a core's is of level 0");
    }
    let all = firmware.idle_state.iter();
    let mut same = all.clone();
    if let Some(known) = same.find(|it| it.format == format && it.power_state == value) {
        return Ok(known.clone());
    }
    // The value does not say whether the timers stop. To assume that they run on
    // would cost a CPU that nothing wakes.
    let mut alike = all.filter(|it| it.is_powerdown() && (!is_core || it.level == Some(0)));
    Ok(IdleState {
        name: name.to_owned(),
        power_state: value,
        level,
        format,
        local_timer_stop: alike.any(|it| it.local_timer_stop),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::board;
    use crate::setup::workspace::Workspace;

    #[derive(Parser)]
    struct Line {
        board: String,
        #[command(flatten)]
        given: GivenStates,
        #[arg(long)]
        dtb: bool,
    }

    /// Returns each state that a command line chooses with its level, and `T` where the
    /// timers stop; or the error.
    fn choose(line: &str) -> String {
        let line = match Line::try_parse_from(["x"].into_iter().chain(line.split(' '))) {
            Ok(line) => line,
            Err(error) => return error.to_string(),
        };
        let workspace = Workspace::find().expect("the repository");
        let board = board::load(&workspace, &line.board).expect("a good board");
        let firmware = board.firmware(&board.default_firmware).expect("it");
        let chosen = line.given.choose(&board, firmware, StateFormat::Original);
        let show = |it: &IdleState| {
            let stops = if it.local_timer_stop { " T" } else { "" };
            let level = it.level.map_or("?".into(), |level| level.to_string());
            format!("{:#x} {level}{stops}; ", it.power_state)
        };
        chosen.map_or_else(
            |error| error.to_string(),
            |all| all.iter().map(show).collect(),
        )
    }

    #[test]
    fn states_of_the_command_line_are_chosen_or_refused_by_name() {
        // The extended format has no level; the board file's states do. In all states of
        // rk3399's board file the timers stop; it has not 0x10001.
        let rows = "\
qemu --state-format extended --core 0x40000002 --deepest 0x40000123 => 0x40000002 0; 0x40000123 ?;
qemu --state-format extended --core 0x40000002 --deepest 0x40000022 => 0x40000002 0; 0x40000022 1;
qemu --core 0x10000 --deepest 0x10000 => 0x10000 0;
rk3399 --state-format original --core 0x10001 --deepest 0x1010000 => 0x10001 0 T; 0x1010000 1 T;
qemu --core 0x40000002 => --core 0x40000002: it sets bits that the original
qemu --state-format extended --core 0x10002 => --core 0x10002: this is no power-down state in
qemu --core 0x1010022 => --core 0x1010022: this is a state of power level 1
qemu --core 0x10002 --deepest 0x1 => --deepest 0x1: this is no power-down state in the
juno --state-format extended => --state-format extended: the board file of Arm Juno
qemu --core 40000222 => error: invalid value '40000222' for '--core <0x…>': expected 32 bits in
qemu --core 0x => error: invalid value '0x' for '--core <0x…>': expected 32 bits in
qemu --core 0x+1 => error: invalid value '0x+1' for '--core <0x…>': expected 32 bits in
qemu --core 0x140000222 => error: invalid value '0x140000222' for '--core <0x…>': expected 32 bits in";
        for row in rows.lines() {
            let (line, expected) = row.split_once(" => ").expect(row);
            let found = choose(line);
            assert!(found.starts_with(expected), "{line}: {found}");
        }
        let all = choose("qemu --state-format extended");
        assert_eq!(all.matches("; ").count(), 4, "{all}");
    }
}
