//! A log with made-up points: eight CPUs on which a flush fills
//! up, powerdown grows with each CPU, and a timer's handler is late under
//! stress. Figures are made up; records have their checksums.

use psci_bench::record::crc::Crc32;

/// The contents of the caches of the made-up CPUs, in KiB.
pub const FULL_KIB: u64 = 512;
/// Ticks of 16 ns that each further CPU costs.
pub const STEP: u64 = 2500;
/// Ticks that each dirty KiB costs.
pub const EACH_KIB: u64 = 5;

/// The log, of which each figure is `scale` percent.
pub fn log(scale: u64) -> Vec<u8> {
    let mut records = Records {
        scale,
        ..Records::default()
    };
    records.all();
    let mut text =
        String::from("NOTICE:  BL31: v2.12.1(release):psci-bench-2.12.1\r\npsci-bench 0.1.0\r\n");
    for _ in 0..2 {
        text.push_str(&records.copy());
    }
    text.push_str(
        "psci-bench: PASS (5 passed, 0 skipped, 0 failed; 960 samples, 0 not counted, 0 CPUs \
         lost)\r\n",
    );
    text.into_bytes()
}

#[derive(Default)]
struct Records {
    scale: u64,
    lines: Vec<String>,
}

impl Records {
    fn add(&mut self, line: String) {
        self.lines.push(line);
    }

    /// One copy, with numbers, checksums and end.
    fn copy(&self) -> String {
        let (mut text, mut crcs) = (String::new(), Crc32::default());
        let mut add = |seq: usize, line: &str| {
            let body = format!("@PB {seq:04} {line} ");
            let crc = Crc32::of(body.as_bytes());
            text.push_str(&format!("{body}{crc:08x}\r\n"));
            assert!(body.len() + 8 <= 120, "{body}");
            crc
        };
        for (seq, line) in self.lines.iter().enumerate() {
            crcs.update(&add(seq, line).to_be_bytes());
        }
        let count = self.lines.len();
        add(
            count,
            &format!("end records={count} crcs={:#010x}", crcs.value()),
        );
        text
    }

    fn all(&mut self) {
        self.add("run format=1 version=0.1.0 cpus=8 tests=5 labels=cpu-map model=Made_up".into());
        self.add("facts hz=62500000 counter=CNTPCT timer=CNTP intid=30 el=2 gic=3".into());
        self.add(
            "facts conduit=smc psci=0x10001 state_format=original lead=0 pmf=0xc7000020".into(),
        );
        self.add(
            "plan iterations=100 warmup=2 scenarios=5 methods=tftf wake=together end=off".into(),
        );
        for cpu in 0..8 {
            let (cluster, core) = (cpu / 4, cpu % 4);
            self.add(format!(
                "cpu i={cpu} mpidr={:#x} cluster={cluster} core={core} thread=0",
                mpidr(cpu)
            ));
        }
        self.null_call();
        self.timer_latency();
        self.dirty_sweep();
        self.contend_sweep();
        self.idle_states();
    }

    fn test(&mut self, t: u32, tag: &str) {
        self.add(format!(
            "test t={t} by=warm tag={tag} status=passed asked=100"
        ));
    }

    /// A point; `x` with its blank.
    fn point(&mut self, of: &str, metric: &str, per: u32, median: u64, more: u64) {
        let median = median * self.scale / 100;
        let (min, p99, max) = (median - median / 50, median + more / 2, median + more);
        let mad = median / 200;
        self.long(
            &format!("point {of} metric={metric}"),
            &format!("per={per} n=100 min={min} med={median} p99={p99} max={max} mad={mad}"),
        );
    }

    /// A record that goes on in another one where it is too long.
    fn long(&mut self, head: &str, fields: &str) {
        let mut line = head.to_owned();
        for field in fields.split(' ') {
            if line.len() + field.len() > 100 {
                let full = std::mem::replace(&mut line, head.to_owned());
                self.add(full);
            }
            line = format!("{line} {field}");
        }
        self.add(line);
    }

    fn null_call(&mut self) {
        self.test(7, "null_call");
        for (how, slower) in [("alone", 0), ("all", 40)] {
            for (variant, each) in [
                ("psci_version", 209),
                ("smccc_version", 150),
                ("unknown", 120),
                ("loop", 3),
            ] {
                for cpu in 0..8 {
                    let of = format!("t=7 mpidr={:#x} how={how} var={variant}", mpidr(cpu));
                    let each = each + if variant == "loop" { 0 } else { slower + cpu };
                    self.point(&of, "ticks", 1024, each * 1024 + 9, each * 30);
                    self.point(&of, "cycles", 1024, each * 1024 * 24 + 100, each * 600);
                }
            }
        }
    }

    fn timer_latency(&mut self) {
        self.test(13, "timer_latency");
        for (place, variant) in ["idle", "write", "zero", "nontemporal", "clean", "mixed"]
            .into_iter()
            .enumerate()
        {
            for (metric, extra) in [("entry", 0), ("handler", 30)] {
                for cpu in 0..8 {
                    let key = format!("t=13 mpidr={:#x} how=all var={variant}", mpidr(cpu));
                    let from = 40 + extra + 20 * place as u64;
                    let counts = [20, 40, 25, 10, 4];
                    let far = from + 4 + 40 * (place as u64 + cpu + 1);
                    let end = format!("point {key} metric={metric}");
                    self.add(format!(
                        "{end} per=1 n=100 min={from} med={} p99={}",
                        from + 4,
                        from + 16
                    ));
                    self.add(format!("{end} max={far} mad=2"));
                    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
                    let counts = counts.join(",");
                    self.add(format!(
                        "hist {key} metric={metric} from={from} step=4 c={counts}"
                    ));
                    let class = from + (far - from) / 4 * 4;
                    self.add(format!(
                        "hist {key} metric={metric} from={class} step=4 c=1"
                    ));
                }
            }
        }
    }

    fn dirty_sweep(&mut self) {
        self.test(14, "dirty_sweep");
        for kib in [0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048] {
            let flush = 2200 + EACH_KIB * u64::min(kib, FULL_KIB);
            let of = format!("t=14 mpidr=0x0 how=alone var=write x={}", kib * 1024);
            self.point(&of, "powerdown", 1, flush + 3000, 90);
            self.point(&of, "wakeup", 1, 1900, 60);
            self.point(&of, "cflush", 1, flush, 80);
        }
    }

    fn contend_sweep(&mut self) {
        self.test(15, "contend_sweep");
        for count in 1..=8 {
            for cpu in 0..count {
                let of = format!("t=15 mpidr={:#x} how=all var=core x={count}", mpidr(cpu));
                let place = (cpu + 1) % count;
                self.point(&of, "powerdown", 1, 6000 + STEP * place, 300);
                self.point(&of, "wakeup", 1, 2000 + 1000 * place, 200);
            }
        }
    }

    fn idle_states(&mut self) {
        self.test(16, "idle_states");
        for (state, longer) in [(0x1u64, 0), (0x1_0002, 2000), (0x101_0022, 9000)] {
            for (variant, slower) in [("serial", 0), ("parallel", 700)] {
                for cpu in 0..8 {
                    let of = format!(
                        "t=16 mpidr={:#x} how=all var={variant} x={state}",
                        mpidr(cpu)
                    );
                    self.point(&of, "powerdown", 1, 1000 + longer + slower * cpu, 100);
                    self.point(&of, "wakeup", 1, 800 + longer / 4, 100);
                    if state == 0x101_0022 {
                        self.add(format!("point {of} metric=wakeup woken_by=1"));
                    }
                }
            }
        }
    }
}

fn mpidr(cpu: u64) -> u64 {
    ((cpu / 4) << 8) + cpu % 4
}
