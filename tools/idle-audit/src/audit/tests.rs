//! Which CPUs use which states, in synthetic trees.

use device_tree::DeviceTreeNode;
use device_tree::nodes::{self, BuildNode as _};
use itertools::Itertools as _;

use super::{DeclaredBy, DeclaredSource, RuleVerdict, audit};

/// Phandles of the states and of the power domains.
const STATE: u32 = 0x10;
const OTHER_STATE: u32 = 0x11;
const DOMAIN: u32 = 0x20;
const OUTER_DOMAIN: u32 = 0x21;
/// The power_state of all states.
const POWER_STATE: u32 = 0x4000_0004;

fn cpu(number: u32) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked(format!("cpu@{number:x}"))
        .with_property("device_type", "cpu")
        .with_property("reg", number)
}

fn state(name: &str, compatible: &str, phandle: u32) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked(name)
        .with_property("compatible", compatible)
        .with_property("arm,psci-suspend-param", POWER_STATE)
        .with_property("entry-latency-us", 100_u32)
        .with_property("exit-latency-us", 200_u32)
        // Less than both latencies, which is a contradiction.
        .with_property("min-residency-us", 250_u32)
        .with_property("phandle", phandle)
}

fn cpu_state(name: &str, phandle: u32) -> DeviceTreeNode {
    state(name, "arm,idle-state", phandle)
}

fn domain(phandle: u32, states: &[u32]) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked(format!("domain-{phandle:x}"))
        .with_property("#power-domain-cells", 0_u32)
        .with_property("domain-idle-states", states)
        .with_property("phandle", phandle)
}

/// Audits a tree with these CPUs, states and power domains. Returns a line per state: its name, the
/// CPUs that use it, and the verdicts.
fn lines<const N: usize>(
    cpus: &[DeviceTreeNode],
    states: [DeviceTreeNode; N],
    domains: &[DeviceTreeNode],
) -> [String; N] {
    let group = |name: &str, children: &[DeviceTreeNode]| {
        DeviceTreeNode::new_unchecked(name).with_children(children.iter().cloned())
    };
    let cpus = group("cpus", cpus).with_child(group("idle-states", &states));
    let psci = group("psci", domains);
    let tree = nodes::root("example,board", "Example", false)
        .with_child(cpus)
        .with_child(psci);
    let source = DeclaredSource::of_tree("a.dtb", DeclaredBy::Tree, &nodes::flatten(tree));
    let audit = audit(&source.expect("states"), "", &[], 2.0).expect("an audit");
    let lines = audit.states.iter().map(|state| {
        let users: Vec<_> = state.users.iter().map(ToString::to_string).collect();
        let verdicts = state
            .judgements
            .iter()
            .map(|judgement| match judgement.verdict {
                RuleVerdict::Unused => judgement.reason.clone(),
                _ => judgement.rule.to_owned(),
            })
            .join("; ");
        format!("{} [{}] {verdicts}", state.declared.name, users.join(" "))
    });
    let all_lines: Vec<String> = lines.collect();
    all_lines.try_into().expect("a line per state")
}

#[test]
fn state_that_no_cpu_lists_is_only_called_unused() {
    // Both have the same power_state, which would be refused if a CPU used both.
    let states = [cpu_state("big", STATE), cpu_state("small", OTHER_STATE)];
    let unused = "defined, but no CPU lists it";
    assert_eq!(
        lines(&[cpu(0), cpu(1)], states.clone(), &[]),
        [format!("big [] {unused}"), format!("small [] {unused}")]
    );
    // Only one CPU lists a state, and only one of the states is listed.
    let cpus = [cpu(0), cpu(0x100).with_property("cpu-idle-states", STATE)];
    assert_eq!(
        lines(&cpus, states.clone(), &[]),
        [
            "big [0x100] residency-covers-latency".to_owned(),
            format!("small [] {unused}")
        ]
    );
    // Each kind of CPU has its own state.
    let cpus = [
        cpu(0).with_property("cpu-idle-states", OTHER_STATE),
        cpu(0x100).with_property("cpu-idle-states", STATE),
    ];
    let both_used = [
        "big [0x100] residency-covers-latency",
        "small [0x0] residency-covers-latency",
    ];
    assert_eq!(lines(&cpus, states.clone(), &[]), both_used);
    // The compatible string of a vendor's kernel.
    let vendor = state("big", "example,idle-state", STATE);
    let cpus = [cpu(0).with_property("cpu-idle-states", STATE)];
    let used = ["big [0x0] residency-covers-latency"];
    assert_eq!(lines(&cpus, [vendor], &[]), used);
    // A CPU without device_type.
    let unmarked = DeviceTreeNode::new_unchecked("cpu@1")
        .with_property("reg", 1_u32)
        .with_property("cpu-idle-states", STATE);
    let used = ["big [0x1] residency-covers-latency"];
    assert_eq!(lines(&[unmarked], [cpu_state("big", STATE)], &[]), used);
    // A phandle that no node has.
    let cpus = [cpu(0).with_property("cpu-idle-states", [0x99, STATE])];
    let [big, small] = lines(&cpus, states, &[]);
    assert_eq!(big, "big [0x0] residency-covers-latency");
    assert_eq!(small, format!("small [] {unused}"));
}

#[test]
fn disabled_cpu_or_state_does_not_count() {
    let list = |cpu: DeviceTreeNode| cpu.with_property("cpu-idle-states", STATE);
    let turn_off = |node: DeviceTreeNode| node.with_property("status", "disabled");
    let state = cpu_state("big", STATE);
    assert_eq!(
        lines(&[cpu(0), turn_off(list(cpu(1)))], [state.clone()], &[]),
        ["big [] defined, but only disabled CPUs list it"]
    );
    assert_eq!(
        lines(
            &[list(cpu(0)), turn_off(list(cpu(1)))],
            [state.clone()],
            &[]
        ),
        ["big [0x0] residency-covers-latency"]
    );
    assert_eq!(
        lines(&[list(cpu(0))], [turn_off(state)], &[]),
        ["big [] defined, but disabled by its status property"]
    );
}

#[test]
fn states_of_power_domains_are_those_of_the_cpus_in_them() {
    let put_in_domain = |cpu: DeviceTreeNode| cpu.with_property("power-domains", DOMAIN);
    let states = || {
        [
            cpu_state("core", STATE),
            state("cluster", "domain-idle-state", OTHER_STATE),
        ]
    };
    let nested = [
        domain(DOMAIN, &[STATE]).with_property("power-domains", OUTER_DOMAIN),
        domain(OUTER_DOMAIN, &[OTHER_STATE]),
    ];
    // No CPU has cpu-idle-states.
    let [core, cluster] = lines(
        &[put_in_domain(cpu(0)), put_in_domain(cpu(1)), cpu(2)],
        {
            let [core, cluster] = states();
            [
                core,
                cluster.with_property("arm,psci-suspend-param", 0x4100_0044_u32),
            ]
        },
        &nested,
    );
    assert_eq!(core, "core [0x0 0x1] residency-covers-latency");
    assert_eq!(cluster, "cluster [0x0 0x1] residency-covers-latency");
    // The domain's states are nobody's if no CPU is in it.
    let cpus = [cpu(0).with_property("cpu-idle-states", STATE)];
    assert_eq!(
        lines(&cpus, states(), &[domain(DOMAIN, &[OTHER_STATE])]),
        [
            "core [0x0] residency-covers-latency",
            "cluster [] defined, but only power domains without a CPU list it",
        ]
    );
    assert_eq!(
        lines(&cpus, states(), &[]),
        [
            "core [0x0] residency-covers-latency",
            "cluster [] defined, but no power domain lists it",
        ]
    );
}
