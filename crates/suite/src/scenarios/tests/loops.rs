//! Micro-benchmarks on the fake machine.

use super::*;
use crate::measure::Operation;
use hardware::board::CpuIndex;
use hardware::devices::its::NoLpi;

#[test]
fn without_loops_the_time_is_limited() {
    // At 100 ms per batch, 1024 batches would take minutes. Seven series share 30 s; four of them
    // run on a single CPU.
    let slow = 6_250_000;
    for (more, args, least, rounds) in [
        (slow, "warmup=5", 100, 3 + 4 * (5 + 100)),
        (slow, "warmup=100 loops=1", 1, 3 + 4 * (100 + 1)),
        (0, "warmup=0", 1024, 3 + 3 * 1024 + 100),
    ] {
        let fake = Fake::new(1).with(move |_, _, outcome| {
            outcome.returned_at = shifted(outcome.returned_at, more);
        });
        let ran = run(fake, &std::format!("only=null_call {args}"));
        assert_eq!((ran.counts(), ran.fake.rounds), ([1, 0, 0], rounds));
        let fewest_samples = ran
            .series()
            .filter(|cell_series| cell_series.cell.step.variant != Variant::LOOP)
            .map(|cell_series| cell_series.series.summary.n)
            .min();
        assert_eq!(fewest_samples, Some(least));
    }
}

#[test]
fn unknown_function_that_succeeds_fails_the_scenario() {
    let fake = Fake::new(2).with(|_, cpu, outcome| {
        if cpu.index() == 1 && outcome.code == Some(-1) {
            outcome.code = Some(0);
        }
    });
    let ran = run(fake, "only=null_call loops=10");
    let expected = Failure::WrongAnswer {
        variant: Variant::new("unknown"),
        answer: 0,
        cpu: 1.into(),
    };
    assert_eq!(ran.failure(), Some(expected));
}

#[test]
fn batch_with_another_return_value_is_rejected() {
    let fake = Fake::new(2).with(|round, cpu, outcome| {
        if (round, cpu.index()) == (25, 1) {
            outcome.code = Some(-5);
        }
    });
    let ran = run(fake, "only=null_call loops=64 batch=4");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let has_rejection = |cell: &&Cell| {
        let counts = cell.counts.as_ref();
        counts.is_some_and(|counts| counts.rejected == [(Reason::WrongAnswer, 1)])
    };
    let cpus = ran.cells().filter(has_rejection).map(|cell| cell.cpu);
    assert_eq!(cpus.collect::<Vec<_>>(), [1.into()]);
}

#[test]
fn missing_smccc_version_is_left_out() {
    // The probe of SMCCC_VERSION is round 6, after PSCI_VERSION's probe, warm-up and four batches.
    let fake = Fake::new(1).with(|round, _, outcome| {
        if round == 6 {
            outcome.code = Some(-1);
        }
    });
    let ran = run(fake, "only=null_call loops=4 batch=1 warmup=1");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let has = |variant| ran.cells().any(|cell| cell.step.variant == variant);
    assert!(!has(Variant::new("smccc_version")) && has(Variant::new("unknown")));
}

#[test]
fn cpu_on_names_the_first_of_a_cluster() {
    let ran = run(Fake::new(8), "only=cpu_on iterations=2 warmup=0");
    let keys = ran
        .series()
        .filter(|cell_series| cell_series.cell.step.variant == Variant::new("first"))
        .map(|CellSeries { cell, series }| (cell.cpu.index(), cell.step.cpus, series.metric));
    let both = [Metric::TurnOn, Metric::TurnOff];
    let alone = (4..8).flat_map(|cpu| both.map(|metric| (cpu, ActiveCpus::Alone, metric)));
    assert!(keys.eq(alone.chain([(4, ActiveCpus::All, Metric::TurnOn)])));
    for CellSeries { cell, series } in ran.series() {
        assert_ne!(cell.cpu, 0.into(), "the lead stays on");
        let is_on = series.metric == Metric::TurnOn;
        let ticks = if is_on { 700 } else { 900 };
        assert_eq!((series.summary.n, series.summary.min), (2, ticks));
    }
}

#[test]
fn an_sgi_that_does_not_come_ends_the_scenario() {
    let (variant, cpu) = (Variant::new("sgi"), CpuIndex::default());
    let gave_up = Failure::GaveUp { variant, cpu };
    // Each missing batch takes seconds, so the scenario ends once a tenth of the batches are
    // missing.
    let (valid, requested) = (18, 29);
    let few = Failure::TooFewSamples {
        cpu,
        valid,
        requested,
    };
    for (first, failure, rounds) in [(0, gave_up, 1), (21, few, 21 + 11)] {
        let fake = Fake::new(1).with(move |round, _, outcome| {
            if round >= first {
                outcome.end = ActionEnd::GaveUp;
            }
        });
        let ran = run(fake, "only=self_sgi loops=1000 batch=10");
        assert_eq!((ran.failure(), ran.fake.rounds), (Some(failure), rounds));
    }
}

/// The scenario names one of the CPUs, and the totals have all of them.
#[test]
fn all_cpus_that_one_round_loses_are_counted() {
    let fake = Fake::new(4).with(|_, cpu, outcome| {
        if [1, 3].contains(&cpu.index()) {
            outcome.end = ActionEnd::Lost(LOSS);
        }
    });
    let ran = run(fake, "only=eoi loops=64 batch=4");
    let failure = Failure::CpuLost {
        cpu: 1.into(),
        loss: LOSS,
        others: 1,
    };
    assert_eq!((ran.failure(), ran.totals.lost), (Some(failure), 2));
}

#[test]
fn services_that_the_firmware_lacks_are_left_out() {
    let lacks = |functions: &'static [u32]| {
        Fake::new(2).with(move |_, _, outcome| {
            if let Action::Repeat {
                operation: Operation::Call(function) | Operation::CallWith(function, _),
                ..
            } = outcome.action
                && functions.contains(&function)
            {
                outcome.code = Some(-1);
            }
        })
    };
    let args = "only=service_call loops=64 batch=4";
    let ran = run(lacks(&[0x8000_8000, 0x8000_7fff]), args);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let mut variants: Vec<_> = ran.cells().map(|cell| cell.step.variant).collect();
    variants.dedup();
    let expected = [
        Variant::new("std_svc_uid"),
        Variant::new("workaround_3"),
        Variant::LOOP,
    ];
    assert_eq!(variants, expected);
    let services = &[0x8400_ff01, 0x8000_8000, 0x8000_7fff, 0x8000_3fff];
    let skipped = Status::Skipped(Skip::NotSupported(0x8400_ff01));
    assert_eq!(run(lacks(services), args).statuses(), [skipped]);
}

#[test]
fn each_cpu_is_paired_with_a_near_and_a_far_one() {
    let ran = run(Fake::new(5), "only=ipi loops=64 batch=4");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let cells: Vec<_> = ran
        .cells()
        .filter(|cell| cell.step.variant == Variant::new("round_trip"))
        .filter(|cell| cell.series_of(Metric::Time).is_some())
        .map(|cell| (cell.cpu.index(), cell.step.cpus))
        .collect();
    let near = (0..4).map(|cpu| (cpu, ActiveCpus::Near));
    let far = (0..5).map(|cpu| (cpu, ActiveCpus::Far));
    assert_eq!(cells, near.chain(far).collect::<Vec<_>>());
    let alone = run(Fake::new(1), "only=ipi loops=64 batch=4");
    assert_eq!(alone.statuses(), [Status::Skipped(Skip::NoNeighbor)]);
}

#[test]
fn lpis_are_measured_on_the_lead_or_skipped_with_a_reason() {
    let args = "only=lpi loops=64 batch=4";
    let ran = run(Fake::new(5), args);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let cells: Vec<_> = ran
        .cells()
        .map(|cell| (cell.cpu.index(), cell.step.variant))
        .collect();
    assert_eq!(cells, [(0, Variant::new("lpi")), (0, Variant::LOOP)]);
    for reason in [NoLpi::NotInTree, NoLpi::InUse, NoLpi::Unresponsive] {
        let mut fake = Fake::new(2);
        fake.no_lpi = Some(reason);
        let skipped = Status::Skipped(Skip::NoLpi(reason));
        assert_eq!(run(fake, args).statuses(), [skipped]);
    }
}

#[test]
fn without_a_gic_only_the_console_is_read() {
    let fake = Fake::new(1).with(|_, _, outcome| {
        if let Action::Repeat { operation, .. } = outcome.action
            && operation == Operation::DistributorRead
        {
            outcome.end = ActionEnd::GaveUp;
        }
    });
    let ran = run(fake, "only=mmio_read loops=64 batch=4");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let variants = ran.cells().map(|cell| cell.step.variant);
    assert!(variants.eq([Variant::new("uart"), Variant::LOOP]));
}
