//! The boot arguments. Each is one entry: its key, its type with the accepted values, its default
//! and its meaning. Parsing, the header, records, comparisons, error messages and the table in
//! `docs/boot-arguments.md` follow from the entries.

use alloc::string::String;
use core::fmt;

use hardware::board::SHORTEST_SLEEP_MAX_US;

use super::argument_types::{
    ArgumentType, Bytes, Choice, CpuSteps, DirtySteps, FunctionIds, List, MpidrNumber, Number,
    Optional, PowerState, Scenarios,
};
use super::choices::{
    ActiveCpus, CheckedCalls, EndAction, Load, Method, Records, SentSamples, Timestamps, Use,
    WakePattern,
};
use super::scenario_set::ScenarioSet;
use super::word_set::WordSet;

/// Defines [`Key`] and [`Plan`] from the entries. An entry is a variant of `Key` with its word, a
/// field of `Plan` with its kind and default, and the argument's meaning.
macro_rules! arguments {
    ($($key:ident $word:literal, $field:ident: $kind:ty = $default:expr, $meaning:literal;)+) => {
        hardware::words! {
            /// A key in the boot arguments.
            pub enum Key, word {
                $(#[doc = $meaning] $key = $word,)+
            }
        }

        /// A run's options: scenarios, samples and methods.
        #[derive(Clone, Copy, Debug)]
        pub struct Plan {
            $(#[doc = $meaning] pub $field: <$kind as ArgumentType>::Value,)+
            /// One bit for each [`Key`] whose value is unknown, because the record that has it is
            /// lost, or because the payload did not know the argument.
            pub unknown: u64,
        }

        impl Default for Plan {
            fn default() -> Self {
                Self { $($field: $default,)+ unknown: 0 }
            }
        }

        impl Plan {
            /// Sets the option for a key. Returns None if the key does not accept the value.
            pub(super) fn read(&mut self, key: Key, value: &str) -> Option<()> {
                match key {
                    $(Key::$key => self.$field = <$kind>::read(value)?,)+
                }
                Some(())
            }

            /// Returns the option for a key as it is written in a boot argument; None if there is
            /// no such option, or if it is unknown.
            pub fn text(&self, key: Key) -> Option<String> {
                if self.unknown >> key as u32 & 1 != 0 {
                    return None;
                }
                match key {
                    $(Key::$key => <$kind>::write(&self.$field),)+
                }
            }
        }

        impl Key {
            /// Returns the argument's meaning, for documentation.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$key => $meaning,)+
                }
            }

            /// Describes the accepted values, after "takes".
            ///
            /// # Errors
            /// Returns an error if output cannot be written.
            pub fn write_accepted(self, f: &mut dyn fmt::Write) -> fmt::Result {
                match self {
                    $(Self::$key => <$kind>::write_accepted(f),)+
                }
            }
        }
    };
}

arguments! {
    Iterations "iterations", iterations: Number<1, 1_000_000> = 20,
        "Samples for each CPU in each scenario.";
    Warmup "warmup", warmup: Number<0, 10_000> = 2,
        "Initial warm-up samples, which are not counted.";
    Only "only", scenarios: Scenarios = ScenarioSet::SUITE,
        "Scenarios by tag, with or without `test_rt_instr_`, or by group: `suite`, `micro`, or \
         `all`, which leaves out scenarios that may lose CPUs or take long. `first` is for a \
         board's [first run](first-boot.md#steps-of-onlyfirst). `cargo xtask scenarios` lists them; so \
         does `help`, on a board, without measuring anything (exit code 3).";
    Method "method", methods: List<Method> = WordSet::from_indices(&[0]),
        "`tftf`: each sample is taken after a CPU_ON, as in the TF-A tests. `warm`: CPUs stay on.";
    Wake "wake", wake: Optional<Choice<WakePattern>> = None,
        "The wake-up pattern for parallel rounds; by default, `chain` with `method=tftf` and \
         otherwise `together`. See [wake-up](wake-up.md).";
    Sleep "sleep", sleep: Optional<Number<0, SHORTEST_SLEEP_MAX_US>> = None,
        "The shortest time that a CPU stays suspended, in microseconds; by default, the board file's \
         `shortest-sleep-us`, or 10000. `0`: no longer than the trial shows to be necessary, for \
         emulators. See [wake-up](wake-up.md#how-long-a-cpu-stays-suspended).";
    End "end", end: Choice<EndAction> = EndAction::Off,
        "The action after the last line.";
    Deepest "deepest", deepest: Optional<PowerState> = None,
        "The `power_state` of the deepest state, instead of the board's.";
    Core "core", core: Optional<PowerState> = None,
        "The `power_state` of the state at level 0, instead of the board's.";
    Timestamps "timestamps", timestamps: Choice<Timestamps> = Timestamps::Pmf,
        "`caller` ignores PMF, for firmware whose timestamps are stale.";
    CpuOff "cpu-off", cpu_off: Choice<Use> = Use::On,
        "`off` leaves CPUs on once they have been turned on, for firmware whose CPU_OFF or second \
         CPU_ON loses CPUs.";
    Frame "frame", frame: Choice<Use> = Use::On,
        "`off` ignores the memory-mapped timer frame; an awake CPU wakes the lead instead.";
    Helper "helper", helper: Optional<MpidrNumber> = None,
        "The MPIDR of the CPU that stays awake to wake others, instead of the lead and one in \
         another cluster; see [wake-up](wake-up.md#states-that-stop-the-timers-awake-helper).";
    HostCpus "host-cpus", host_cpus: Optional<Number<0, 65_535>> = None,
        "For an emulator: the number of the host's CPUs, or 0 if the emulator's clock counts \
         instructions. `cargo xtask qemu` sets it; the header and comparisons say what it means for \
         the figures.";
    Watchdog "watchdog", watchdog: Choice<Use> = Use::On,
        "`off` does not touch the watchdog, even if the firmware has started it.";
    Samples "samples", samples: Choice<SentSamples> = SentSamples::None,
        "`all` sends every sample as a record, in addition to the statistics.";
    Records "records", records: Choice<Records> = Records::Once,
        "How often each record is written. `twice` is for a serial line that loses bytes: a record \
         counts if either copy is intact.";
    Loops "loops", loops: Optional<Number<1, { 1 << 30 }>> = None,
        "Operations in each loop on each CPU; by default, 1048576, or as many as fit in 30 s.";
    Batch "batch", batch: Number<1, { 1 << 16 }> = 1024,
        "Operations in one sample of a loop.";
    Duration "duration", duration: Number<1, 86_400> = 1,
        "The length of each timer measurement, or of `stress`, in seconds.";
    Period "period", period: Number<50, 1_000_000> = 1_000,
        "Microseconds from one expiry of a timer to the next.";
    Stress "stress", stress: List<Load> =
        WordSet::from_indices(&[Load::Idle as u8, Load::Mixed as u8]),
        "The loads under which timers are measured; see [timer latency](timer-latency.md#loads).";
    Footprint "footprint", footprint: Bytes<{ 1 << 12 }, { 1 << 30 }> = 4 << 20,
        "Bytes that each CPU writes to under a load, allocated at run time.";
    Timers "timers", timers: List<ActiveCpus> =
        WordSet::from_indices(&[ActiveCpus::Alone as u8, ActiveCpus::All as u8]),
        "The CPUs whose timers are measured at the same time, and those that run the load. `alone`: \
         one CPU after another, while all others run the load. `all`: all CPUs. `near`, `far`: like \
         `alone`, but only the next CPU in the same cluster, or the first one in another cluster, \
         runs the load.";
    Threshold "threshold", threshold: Optional<Number<1, 1_000_000>> = None,
        "A timer latency above this number of microseconds makes the scenario stop and fail.";
    Dirty "dirty", dirty: Optional<DirtySteps> = None,
        "The bytes to dirty in each step of `dirty_sweep`; by default, 0 and from 16K to twice the \
         size of the outermost cache.";
    Contend "contend", contend: Optional<CpuSteps> = None,
        "The CPUs that power down together in each step of `contend_sweep`; by default, 1 to all.";
    CpuOnAfter "cpu-on-after", cpu_on_after: Number<0, 1_000_000> = CPU_ON_AFTER_US,
        "The minimum time in microseconds from the first AFFINITY_INFO that returns OFF for a CPU \
         to its next CPU_ON; see [reliability](reliability.md#waits).";
    Fitness "fitness", fitness: Choice<CheckedCalls> = CheckedCalls::Harmless,
        "`destructive` adds calls with invalid arguments to `fitness`; see [fitness](fitness.md).";
    Seed "seed", seed: Number<0, 4_294_967_295> = 1,
        "The seed of the random calls of `stress`, and of the invalid arguments that \
         `fitness=destructive` passes.";
    Calls "calls", calls: Optional<FunctionIds> = None,
        "Functions that `masked_time` calls in addition to PSCI's, without arguments; see \
         [interference](timer-latency.md#interference).";
    Offsets "offsets", offsets: Number<2, 64> = 32,
        "Offsets at which an interrupt first falls due within a call.";
    Repeats "repeats", repeats: Number<1, 3> = 1,
        "Suspends at each offset.";
    Neighbors "neighbors", neighbors: List<ActiveCpus> =
        WordSet::from_indices(&[ActiveCpus::Alone as u8]),
        "The CPUs that suspend at the same time in `wake_race`, with a separate map for each value; \
         see [wake race](wake-up.md#wake-race).";
}

// Each key has one bit in `Plan::unknown`.
const _: () = assert!(Key::COUNT <= u64::BITS as usize);

/// Firmware marks a CPU as OFF before it has reached its WFI, or while its power controller is
/// still busy, and on several SoCs a CPU_ON in that gap loses the CPU (`docs/reliability.md`).
/// Linux never calls CPU_ON that early: milliseconds pass between the two.
const CPU_ON_AFTER_US: u32 = 1_000;
