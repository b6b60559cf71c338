//! Watchdogs that can reset the board: the Arm PrimeCell SP805 (DDI 0270, table 3-1), the SBSA
//! generic watchdog (Arm BSA, DEN 0094, "Watchdogs"), which is accessed through its control frame, and
//! the WDOG of NXP's i.MX (i.MX 8M Plus reference manual, IMX8MPRM, "Watchdog Timer").
//!
//! SP805 and SBSA watchdogs count down twice. After the first countdown, they raise an interrupt, which
//! no CPU takes. After the second one, they reset the board. An i.MX WDOG counts down once, and cannot
//! be stopped once it has been started. It is therefore used only if the firmware has started it.

use core::fmt;
use core::num::NonZeroU64;
use serde::{Deserialize, Serialize};

use tock_registers::{LocalRegisterCopy, register_bitfields};

use super::bus::{Bus, Width};
use super::register::Register;

/// A watchdog's programming model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatchdogKind {
    /// An SBSA generic watchdog, which uses the system counter.
    Sbsa,
    /// SP805.
    Sp805 {
        /// The frequency of WDOGCLK in Hz.
        clock: NonZeroU64,
    },
    /// WDOG of an i.MX, which counts half seconds.
    Imx,
}

/// The reason why no watchdog can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoWatchdog {
    /// The device tree has no usable watchdog.
    NotInTree,
    /// The registers cannot be read or belong to another device.
    NotThere,
    /// The watchdog's maximum timeout is too short for the lead.
    TooSoon {
        /// The watchdog's maximum timeout, in whole seconds.
        most: u64,
        /// The minimum timeout needed, in whole seconds.
        least: u64,
    },
    /// The boot arguments rule out the watchdog.
    Argument,
    /// The firmware has not started the watchdog, which could not be stopped again.
    NotRunning,
}

impl fmt::Display for NoWatchdog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInTree => f.write_str("none in the device tree"),
            Self::NotThere => f.write_str("none at the address in the device tree"),
            Self::Argument => f.write_str("not used: watchdog=off was given"),
            Self::NotRunning => {
                f.write_str("not used: the firmware has not started it, and it cannot be stopped")
            }
            Self::TooSoon { most, least } => write!(
                f,
                "not used: it resets within {most} s, but the lead may need {least} s"
            ),
        }
    }
}

register_bitfields! { u32,
    WCS [
        EN OFFSET(0),
    ],
    IIDR [
        /// The architecture revision.
        REVISION OFFSET(16) NUMBITS(4),
    ],
    WDOGCONTROL [
        /// Enables the interrupt. The watchdog counts only if this bit is set.
        INTEN OFFSET(0),
        RESEN OFFSET(1),
    ],
    WDOGPERIPHID0 [
        PART_NUMBER OFFSET(0) NUMBITS(8) [ Sp805 = 0x05 ],
    ],
    WCR [
        /// The length of the countdown in half seconds, minus 1.
        WT OFFSET(8) NUMBITS(8) [],
        WDE OFFSET(2) NUMBITS(1) [],
    ]
}

/// i.MX, 16 bits wide.
const IMX_WCR: u64 = 0x0;
const IMX_WSR: u64 = 0x2;
/// Writing both values to WSR restarts the countdown.
const IMX_SERVICE: [u32; 2] = [0x5555, 0xaaaa];
/// The longest countdown of an i.MX WDOG, in half seconds.
const IMX_LONGEST: u64 = 256;

const WCS: Register<WCS::Register> = Register::at(0x000);
/// WOR, bits 31:0.
const WOR_LOW: Register = Register::at(0x008);
/// WOR, bits 47:32. Reserved in revision 0.
const WOR_HIGH: Register = Register::at(0x00c);
const W_IIDR: Register<IIDR::Register> = Register::at(0xfcc);

const WDOGLOAD: Register = Register::at(0x000);
const WDOGCONTROL: Register<WDOGCONTROL::Register> = Register::at(0x008);
/// Writing any value clears the interrupt and reloads the counter.
const WDOGINTCLR: Register = Register::at(0x00c);
/// Writing the key unlocks the other registers. Writing any other value locks them.
const WDOGLOCK: Register = Register::at(0xc00);
const WDOGPERIPHID0: Register<WDOGPERIPHID0::Register> = Register::at(0xfe0);

const KEY: u32 = 0x1acc_e551;
const LOCKED: u32 = 1;

impl WatchdogKind {
    /// Returns the offset of the register that identifies the watchdog; None if there is none.
    pub const fn identification(self) -> Option<u32> {
        match self {
            Self::Sbsa => Some(W_IIDR.offset()),
            Self::Sp805 { .. } => Some(WDOGPERIPHID0.offset()),
            Self::Imx => None,
        }
    }

    /// Returns the number of countdowns until the reset.
    const fn countdowns(self) -> u64 {
        match self {
            Self::Sbsa | Self::Sp805 { .. } => 2,
            Self::Imx => 1,
        }
    }

    /// Returns the control bits that start the watchdog and enable the board reset.
    const fn on(self) -> u32 {
        match self {
            Self::Sbsa => WCS::EN::SET.value,
            Self::Sp805 { .. } => WDOGCONTROL::INTEN::SET.value | WDOGCONTROL::RESEN::SET.value,
            Self::Imx => WCR::WDE::SET.value,
        }
    }
}

/// What the driver writes to start, stop or restore a watchdog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WatchdogSetting {
    /// The control bits that start the watchdog and enable the board reset, or 0 if the watchdog is
    /// stopped.
    control: u32,
    /// The length of each countdown in ticks.
    count: u64,
}

/// A driver for a watchdog that may already be running.
pub struct Driver<B> {
    bus: B,
    kind: WatchdogKind,
    /// The maximum count. The maximum timeout, all countdowns, is less than 2^63 ticks.
    longest: u64,
    /// The setting before the driver changed it, which [`Self::disarm`] restores.
    found: WatchdogSetting,
}

impl<B: Bus> Driver<B> {
    /// Takes over a watchdog without changing it. `identification` is the value of its
    /// identification register, or 0 if it has none. The maximum timeout must be at least `least` seconds. The system
    /// counter runs at `hz` ticks per second.
    ///
    /// # Errors
    /// Returns an error if the device is not a watchdog of this kind, if its maximum timeout is too
    /// short, or if it is not running and could not be stopped.
    pub fn new(
        bus: B,
        kind: WatchdogKind,
        identification: u32,
        (least, hz): (u64, u64),
    ) -> Result<Self, NoWatchdog> {
        let iidr = LocalRegisterCopy::<u32, IIDR::Register>::new(identification);
        let id = LocalRegisterCopy::<u32, WDOGPERIPHID0::Register>::new(identification);
        let is_sp805 = id.matches_all(WDOGPERIPHID0::PART_NUMBER::Sp805);
        let longest = match kind {
            WatchdogKind::Sp805 { .. } if !is_sp805 => return Err(NoWatchdog::NotThere),
            WatchdogKind::Sbsa if iidr.read(IIDR::REVISION) > 0 => (1 << 48) - 1,
            WatchdogKind::Sbsa | WatchdogKind::Sp805 { .. } => u32::MAX.into(),
            WatchdogKind::Imx => IMX_LONGEST,
        };
        let mut driver = Self {
            bus,
            kind,
            longest,
            found: WatchdogSetting::default(),
        };
        driver.found = driver.setting();
        if kind == WatchdogKind::Imx && driver.found.control == 0 {
            return Err(NoWatchdog::NotRunning);
        }
        let ticks = least.saturating_mul(hz);
        if driver.count(ticks, ticks, hz).is_none() {
            let most = driver.seconds(hz);
            return Err(NoWatchdog::TooSoon { most, least });
        }
        Ok(driver)
    }

    /// Arms the watchdog to reset the board after `wish` system counter ticks, or after the maximum
    /// timeout if that is shorter. If the maximum timeout is shorter than `least` ticks, restores
    /// the original setting, because any previously armed deadline would come even sooner.
    pub fn arm(&mut self, least: u64, wish: u64, hz: u64) {
        let control = self.kind.on();
        let count = self.count(least, wish, hz);
        self.set(count.map_or(self.found, |count| WatchdogSetting { control, count }));
    }

    /// Restores the original setting and restarts the countdown. This refreshes a watchdog that the
    /// firmware left running.
    pub fn disarm(&mut self) {
        self.set(self.found);
    }

    /// Returns the count for a reset after `wish` system counter ticks, or the maximum count if it
    /// is lower. Returns None if the maximum timeout is shorter than `least` ticks.
    fn count(&self, least: u64, wish: u64, hz: u64) -> Option<u64> {
        let part = |ticks| (self.own(ticks, hz) / self.kind.countdowns()).saturating_add(1);
        (part(least) <= self.longest).then(|| part(wish).min(self.longest))
    }

    /// Returns the watchdog's maximum timeout in whole seconds.
    fn seconds(&self, hz: u64) -> u64 {
        self.kind.countdowns() * self.longest / self.clock().unwrap_or(hz).max(1)
    }

    /// Returns the clock frequency in Hz, or None if the watchdog uses the system counter.
    fn clock(&self) -> Option<u64> {
        match self.kind {
            WatchdogKind::Sbsa => None,
            WatchdogKind::Sp805 { clock } => Some(clock.get()),
            WatchdogKind::Imx => Some(2),
        }
    }

    /// Converts system counter ticks to watchdog clock ticks.
    fn own(&self, ticks: u64, hz: u64) -> u64 {
        let Some(clock) = self.clock() else {
            return ticks;
        };
        let per_second = hz.max(1);
        // Convert whole seconds separately to avoid overflow.
        let seconds = (ticks / per_second).saturating_mul(clock);
        let rest = (ticks % per_second).saturating_mul(clock) / per_second;
        seconds.saturating_add(rest)
    }

    fn setting(&mut self) -> WatchdogSetting {
        let bus = &mut self.bus;
        let (status, count) = match self.kind {
            WatchdogKind::Sbsa => {
                let offset = u64::from(WOR_HIGH.get(bus)) << 32 | u64::from(WOR_LOW.get(bus));
                (WCS.get(bus), offset & self.longest)
            }
            WatchdogKind::Sp805 { .. } => (WDOGCONTROL.get(bus), WDOGLOAD.get(bus).into()),
            WatchdogKind::Imx => {
                let control =
                    LocalRegisterCopy::<u32, WCR::Register>::new(bus.read(IMX_WCR, Width::Half));
                (control.get(), u64::from(control.read(WCR::WT)) + 1)
            }
        };
        // Leave out the WS0 and WS1 bits in WCS, which must not be written.
        let control = status & self.kind.on();
        WatchdogSetting { control, count }
    }

    /// Writes the setting, which restarts the countdown.
    fn set(&mut self, WatchdogSetting { control, count }: WatchdogSetting) {
        let bus = &mut self.bus;
        let low = count as u32;
        let high = (count >> 32) as u32;
        match self.kind {
            WatchdogKind::Sbsa => {
                // Stop the watchdog while only half of WOR is valid.
                WCS.set(bus, 0);
                WOR_LOW.set(bus, low);
                // In revision 0, WOR_HIGH is reserved and `high` is 0.
                WOR_HIGH.set(bus, high);
                WCS.set(bus, control);
            }
            // Always lock the registers afterwards, because any software that writes to them
            // unlocks them first.
            WatchdogKind::Sp805 { .. } => {
                WDOGLOCK.set(bus, KEY);
                WDOGCONTROL.set(bus, 0);
                WDOGLOAD.set(bus, low);
                WDOGINTCLR.set(bus, 1);
                WDOGCONTROL.set(bus, control);
                WDOGLOCK.set(bus, LOCKED);
            }
            // The other bits, some of which can be written only once, keep their values.
            WatchdogKind::Imx => {
                let mut wcr =
                    LocalRegisterCopy::<u32, WCR::Register>::new(bus.read(IMX_WCR, Width::Half));
                wcr.modify(WCR::WT.val(low.saturating_sub(1)));
                bus.write(IMX_WCR, Width::Half, wcr.get());
                for value in IMX_SERVICE {
                    bus.write(IMX_WSR, Width::Half, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{FakeDevice, pairs};

    const MHZ: u64 = 1_000_000;
    const SBSA: WatchdogKind = WatchdogKind::Sbsa;

    fn sp805(hz: u64) -> WatchdogKind {
        let clock = NonZeroU64::new(hz).expect("a clock");
        WatchdogKind::Sp805 { clock }
    }

    fn driver(kind: WatchdogKind, longest: u64) -> Driver<FakeDevice> {
        let driver = Driver::new(FakeDevice::new(&[]), kind, 0x5, (0, 1)).ok();
        Driver {
            longest,
            ..driver.expect("a watchdog")
        }
    }

    /// Each count is half the timeout because the watchdog counts down twice. The timeout is at
    /// least 20 s, ideally 30 s.
    #[test]
    fn count_is_half_the_timeout_in_watchdog_ticks() {
        const LOW: u64 = u32::MAX as u64;
        const HIGH: u64 = (1 << 48) - 1;
        for (kind, longest, mhz, count, seconds) in [
            (SBSA, LOW, 100, Some(1_500 * MHZ + 1), 85),
            (SBSA, HIGH, 1_000, Some(15_000 * MHZ + 1), 562_949),
            (sp805(32_768), LOW, 50, Some(15 * 32_768 + 1), 262_143),
            // The maximum timeout is two 32-bit counts.
            (SBSA, LOW, 286, Some(4_290 * MHZ + 1), 30),
            (SBSA, LOW, 287, Some(LOW), 29),
            (SBSA, LOW, 429, Some(LOW), 20),
            (SBSA, LOW, 430, None, 19),
            // If both clocks run at 1 GHz, the product for 30 s exceeds 64 bits.
            (
                sp805(1_000 * MHZ),
                HIGH,
                1_000,
                Some(15_000 * MHZ + 1),
                562_949,
            ),
        ] {
            let driver = driver(kind, longest);
            let hz = mhz * MHZ;
            let found = (driver.count(20 * hz, 30 * hz, hz), driver.seconds(hz));
            assert_eq!(found, (count, seconds), "{kind:?} {longest} {mhz}");
        }
    }

    #[test]
    fn no_clock_and_no_time_is_too_large() {
        for (clock, hz) in [(1, u64::MAX), (u64::MAX, 1), (u64::MAX, 0)] {
            let driver = driver(sp805(clock), u32::MAX.into());
            assert!(driver.count(0, 0, hz) == Some(1));
            for ticks in [1, hz, u64::MAX] {
                let least = driver.count(ticks, u64::MAX, hz);
                assert!(least.is_none_or(|count| count <= driver.longest));
            }
            let _ = driver.seconds(hz);
        }
    }

    #[test]
    fn setting_is_read_written_and_restored() {
        // Columns: the initial register values, the writes that arm the watchdog for 10 ticks, and
        // the writes that restore the setting.
        for (kind, id, registers, armed, restored) in [
            (
                SBSA,
                0x43b,
                "0=7 8=1234 c=dead",
                "0=0 8=6 c=0 0=1",
                "0=0 8=1234 c=0 0=1",
            ),
            (
                SBSA,
                0x1_043b,
                "0=6 8=1234 c=7dead",
                "0=0 8=6 c=0 0=1",
                "0=0 8=1234 c=dead 0=0",
            ),
            (
                sp805(2),
                0x105,
                "0=1234 8=7",
                "c00=1acce551 8=0 0=b c=1 8=3 c00=1",
                "c00=1acce551 8=0 0=1234 c=1 8=3 c00=1",
            ),
            // WDE and WDZST are set, and the timeout is 60 s.
            (
                WatchdogKind::Imx,
                0,
                "0=7705",
                "0=1405 2=5555 2=aaaa",
                "0=7705 2=5555 2=aaaa",
            ),
        ] {
            let device = FakeDevice::new(&pairs(registers));
            let mut driver = Driver::new(device, kind, id, (1, 1)).expect("a watchdog");
            assert_eq!(driver.bus.writes(), []);
            driver.arm(1, 10, 1);
            assert_eq!(driver.bus.writes(), pairs(armed), "{kind:?}");
            driver.disarm();
            assert_eq!(driver.bus.writes(), pairs(restored), "{kind:?}");
            // The minimum timeout cannot be met, so the original setting is restored.
            driver.arm(u64::MAX, u64::MAX, 1);
            assert_eq!(driver.bus.writes(), pairs(restored), "{kind:?}");
        }
    }

    #[test]
    fn other_device_and_short_timeout_are_rejected() {
        let error_of = |kind, id, least_ticks| {
            Driver::new(FakeDevice::new(&[]), kind, id, (least_ticks, MHZ)).err()
        };
        assert_eq!(error_of(sp805(1), 0x11, 1), Some(NoWatchdog::NotThere));
        assert_eq!(
            error_of(WatchdogKind::Imx, 0, 1),
            Some(NoWatchdog::NotRunning)
        );
        let least = 8590;
        let too_soon = NoWatchdog::TooSoon { most: 8589, least };
        assert_eq!(error_of(SBSA, 0, least), Some(too_soon));
    }
}
