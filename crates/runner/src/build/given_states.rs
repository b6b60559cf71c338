//! Idle states specified on the command line, for boards whose board file does not list the states
//! that the firmware implements.

use anyhow::{Result, bail};
use boards::{BoardFile, Firmware, StateEntry};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hardware::spec::psci::StateFormat;
use hardware::text::keywords::Word;
use thiserror::Error;

/// The options that choose the idle states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct GivenStates {
    /// Format of power_state: original or extended.
    #[arg(long, value_parser = format(), value_name = "FORMAT", conflicts_with = "dtb")]
    #[arg(hide_possible_values = true)]
    pub state_format: Option<StateFormat>,
    /// power_state for core power-down.
    #[arg(long, value_name = "0x…", value_parser = power_state, conflicts_with = "dtb")]
    pub core: Option<u32>,
    /// power_state for deepest power-down.
    #[arg(long, value_name = "0x…", value_parser = power_state, requires = "core")]
    pub deepest: Option<u32>,
    /// Leave out the board file's power-down states.
    #[arg(skip)]
    pub no_power_down: bool,
}

fn format() -> impl TypedValueParser<Value = StateFormat> {
    let values = PossibleValuesParser::new([
        PossibleValue::new("original"),
        PossibleValue::new("extended"),
    ]);
    values.map(|word| StateFormat::from_word(&word).expect("one of the possible values"))
}

/// A value that is not a power_state.
#[derive(Debug, Error)]
#[error("expected 32 bits in hexadecimal, such as 0x40000002")]
struct NotAPowerState;

fn power_state(text: &str) -> Result<u32, NotAPowerState> {
    let digits = text.strip_prefix("0x").ok_or(NotAPowerState)?;
    // from_str_radix accepts a sign.
    if digits.starts_with('+') {
        return Err(NotAPowerState);
    }
    u32::from_str_radix(digits, 16).map_err(|_| NotAPowerState)
}

impl GivenStates {
    /// Returns the same options for firmware that does not power CPUs down. States specified on the
    /// command line are kept.
    pub(crate) fn without_power_down(self) -> Self {
        Self {
            no_power_down: self.core.is_none(),
            ..self
        }
    }

    /// Returns the states for the device tree of `board` with `firmware` (built for the `built`
    /// format).
    pub(crate) fn choose(
        &self,
        board: &BoardFile,
        firmware: &Firmware,
        built: StateFormat,
    ) -> Result<Vec<StateEntry>> {
        let default_states = firmware.idle_states(built);
        let Some(core) = self.core else {
            let states = self.state_format.map(|format| firmware.of_format(format));
            if let (Some(format), Some([])) = (self.state_format, states.as_deref()) {
                bail!(
                    "--state-format {}: the board file for {} has no idle state in this format; \
                     specify the values with --core and --deepest",
                    format.name(),
                    board.title
                );
            }
            let mut states = states.unwrap_or(default_states);
            states.retain(|state| !(self.no_power_down && state.is_powerdown()));
            return Ok(states);
        };
        let format = self
            .state_format
            .or(default_states.first().map(|state| state.format))
            .unwrap_or(built);
        let mut states = vec![state(firmware, format, "core", core)?];
        if let Some(deepest) = self.deepest.filter(|deepest_state| *deepest_state != core) {
            states.push(state(firmware, format, "deepest", deepest)?);
        }
        Ok(states)
    }
}

/// Returns the power-down state in `value`, given with the `--name` option. If the board file lists
/// that state, its entry is used.
fn state(firmware: &Firmware, format: StateFormat, name: &str, value: u32) -> Result<StateEntry> {
    let is_core = name == "core";
    let format_name = format.name();
    let wrong = format!("--{name} {value:#x}");
    if !format.accepts(value) {
        bail!(
            "{wrong}: sets bits that are reserved in the {format_name} format; see --state-format"
        );
    }
    if !format.is_powerdown(value) {
        bail!("{wrong}: not a power-down state in the {format_name} format; see --state-format");
    }
    let level = format.level(value).or(is_core.then_some(0));
    if let Some(level @ 1..) = level.filter(|_| is_core) {
        bail!("{wrong}: this state has power level {level}, but a core state has level 0");
    }
    let all = firmware.idle_state.iter();
    let mut same = all.clone();
    if let Some(known) = same.find(|state| state.format == format && state.power_state == value) {
        return Ok(known.clone());
    }
    // The power_state value does not show whether the timers stop. If the timers were wrongly
    // assumed to keep running, nothing would ever wake the CPU.
    let mut alike =
        all.filter(|state| state.is_powerdown() && (!is_core || state.level == Some(0)));
    Ok(StateEntry {
        name: name.to_owned(),
        power_state: value,
        level,
        format,
        local_timer_stop: alike.any(|state| state.local_timer_stop),
        latency_us: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_level_and_timers_of_the_board_file_if_it_has_them() {
        let extended = Some(StateFormat::Extended);
        // The extended format does not encode a level. The timers stop in all states in the rk3399
        // board file, which does not list 0x10001.
        for (name, state_format, core, deepest, expected) in [
            (
                "qemu",
                extended,
                0x4000_0002,
                0x4000_0123,
                "0x40000002 0; 0x40000123 ?; ",
            ),
            (
                "qemu",
                extended,
                0x4000_0002,
                0x4000_0022,
                "0x40000002 0; 0x40000022 1; ",
            ),
            (
                "rk3399",
                None,
                0x1_0001,
                0x101_0000,
                "0x10001 0 T; 0x1010000 1 T; ",
            ),
        ] {
            let board = boards::load(name).expect("a good board");
            let firmware = board.firmware(&board.default_firmware).expect("it");
            let given = GivenStates {
                state_format,
                core: Some(core),
                deepest: Some(deepest),
                no_power_down: false,
            };
            let states = given.choose(&board, firmware, StateFormat::Original);
            let show = |state: &StateEntry| {
                let stops = if state.local_timer_stop { " T" } else { "" };
                let level = state.level.map_or("?".into(), |level| level.to_string());
                format!("{:#x} {level}{stops}; ", state.power_state)
            };
            let chosen: String = states.expect("good").iter().map(show).collect();
            assert_eq!(chosen, expected);
        }
    }

    #[test]
    fn firmware_without_power_down_gets_standby_and_what_the_user_gives() {
        let board = boards::load("qemu").expect("a good board");
        let firmware = board.firmware(&board.default_firmware).expect("it");
        let core = Some(0x1_0002);
        let given = GivenStates {
            core,
            ..GivenStates::default()
        };
        for (given, expected) in [(GivenStates::default(), 0x1), (given, 0x1_0002)] {
            let chosen = given
                .without_power_down()
                .choose(&board, firmware, StateFormat::Original)
                .expect("good")
                .into_iter();
            let values: Vec<_> = chosen.map(|state| state.power_state).collect();
            assert_eq!(values, [expected]);
        }
    }
}
