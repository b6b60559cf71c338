//! What there is to know of a tree, by bindings and not by the payload: the
//! second opinion that a [`psci_bench::board::Board`] is compared with.

use std::collections::BTreeMap;

use super::node::{self, Node, Tree, Way, path};

/// How PSCI is called.
#[derive(Debug, PartialEq, Eq)]
pub enum Psci {
    None,
    Old,
    Method(String),
}

/// Where the console is.
#[derive(Debug, PartialEq, Eq)]
pub enum Console {
    NotNamed,
    NoSuchNode(String),
    Disabled(String),
    At {
        path: String,
        compatible: Vec<String>,
        /// With `reg-offset`; `None` where the CPUs do not reach it.
        base: Option<u64>,
        /// `reg-shift` and `reg-io-width`, where they are said.
        layout: [Option<u32>; 2],
    },
}

/// The interrupt controller that the per-CPU timers interrupt by.
#[derive(Debug, PartialEq, Eq)]
pub struct Gic {
    pub is_v3: bool,
    pub regions: Vec<(u64, u64)>,
    pub redistributors: usize,
    pub stride: Option<u64>,
}

/// A frame of the memory-mapped timer: CNTCTLBase, number, CNTBaseN, INTID.
pub type Frame = (u64, u32, u64, u32);

/// A CPU's MPIDR, cluster, core, thread.
pub type Label = (u64, u16, u16, u16);

/// All of it.
#[derive(Debug)]
pub struct Facts {
    pub model: String,
    pub bootargs: String,
    pub psci: Psci,
    pub console: Console,
    pub gic: Option<Gic>,
    /// INTIDs of CNTP, CNTV and CNTHP.
    pub ppis: [Option<u32>; 3],
    /// The first of the first timer's that is enabled.
    pub frame: Option<Frame>,
    /// In the order of MPIDR, those that are enabled.
    pub cpus: Vec<u64>,
    /// Methods that are not "psci", of CPUs that are enabled.
    pub methods: Vec<String>,
    /// By cpu-map, where there is one.
    pub labels: Option<Vec<Label>>,
    pub memory: Vec<(u64, u64)>,
    pub reserved: Vec<(u64, u64)>,
    /// power_state, and whether timers stop.
    pub states: BTreeMap<u32, bool>,
}

impl Facts {
    pub fn of(tree: &Tree) -> Self {
        let root = &tree.root;
        let chosen = tree.at("/chosen");
        let bootargs = chosen.and_then(|way| last(&way).text("bootargs"));
        let ways: Vec<Way<'_>> = tree.ways().into_iter().filter(|w| live(w)).collect();
        let (gic, ppis) = interrupts(tree, &ways);
        let nodes = || ways.iter().map(last);
        let states = nodes().filter(|n| n.is("arm,idle-state") || n.is("domain-idle-state"));
        let states = states.filter_map(|n| {
            let stops = n.value("local-timer-stop").is_some();
            Some((n.cell("arm,psci-suspend-param")?, stops))
        });
        let memory = |way: &&Way<'_>| last(way).text("device_type").as_deref() == Some("memory");
        let memory: Vec<&Way<'_>> = ways.iter().filter(memory).collect();
        let mut together = BTreeMap::new();
        for (param, stops) in states {
            *together.entry(param).or_insert(false) |= stops;
        }
        let model = root.text("model");
        Self {
            model: model
                .or_else(|| root.text("compatible"))
                .unwrap_or_default(),
            bootargs: bootargs.unwrap_or_default(),
            psci: psci(&ways),
            console: console(tree),
            gic,
            ppis,
            frame: frame(&ways),
            cpus: cpus(tree).iter().map(|cpu| mpidr(cpu)).collect(),
            methods: methods(tree),
            labels: labels(tree),
            memory: memory
                .iter()
                .flat_map(|way| node::regions(way).expect("memory within reach"))
                .collect(),
            reserved: reserved(tree),
            states: together,
        }
    }
}

fn last<'n>(way: &Way<'n>) -> &'n Node {
    way[way.len() - 1]
}

/// Whether a node and all that it is in are enabled.
fn live(way: &Way<'_>) -> bool {
    way.iter().all(|node| node.enabled())
}

fn psci(ways: &[Way<'_>]) -> Psci {
    let standard = |n: &&Node| n.is("arm,psci-0.2") || n.is("arm,psci-1.0");
    let mut nodes = ways.iter().map(last);
    if let Some(node) = nodes.find(standard) {
        return Psci::Method(node.text("method").unwrap_or_default());
    }
    if ways.iter().any(|way| last(way).is("arm,psci")) {
        return Psci::Old;
    }
    Psci::None
}

fn console(tree: &Tree) -> Console {
    let chosen = tree.at("/chosen");
    let named = chosen.and_then(|way| {
        let text = |name| last(&way).text(name);
        text("stdout-path").or_else(|| text("linux,stdout-path"))
    });
    let alias = |name: &str| tree.at("/aliases").and_then(|way| last(&way).text(name));
    let target = match &named {
        Some(value) => {
            let place = value.split(':').next().unwrap_or_default();
            let target = if place.starts_with('/') {
                Some(place.to_owned())
            } else {
                alias(place)
            };
            let Some(target) = target else {
                return Console::NoSuchNode(place.to_owned());
            };
            target
        }
        None => match alias("serial0") {
            Some(target) => target,
            None => return Console::NotNamed,
        },
    };
    let Some(way) = tree.at(&target) else {
        return Console::NoSuchNode(target);
    };
    if !live(&way) {
        return Console::Disabled(path(&way));
    }
    let regions = node::regions(&way);
    let base = regions.and_then(|regions| Some(regions.first()?.0));
    let offset = u64::from(last(&way).cell("reg-offset").unwrap_or(0));
    Console::At {
        path: path(&way),
        compatible: last(&way).texts("compatible"),
        base: base.map(|base| base + offset),
        layout: ["reg-shift", "reg-io-width"].map(|name| last(&way).cell(name)),
    }
}

/// From the timer's interrupts to the controller that they are connected to.
fn interrupts(tree: &Tree, ways: &[Way<'_>]) -> (Option<Gic>, [Option<u32>; 3]) {
    let is_timer = |w: &&Way<'_>| last(w).is("arm,armv8-timer") || last(w).is("arm,armv7-timer");
    let none = (None, [None; 3]);
    let Some(timer) = ways.iter().find(is_timer) else {
        return none;
    };
    let node = last(timer);
    let extended = node.cells("interrupts-extended");
    let parent = match &extended {
        Some(cells) => cells.first().copied(),
        None => timer.iter().rev().find_map(|n| n.cell("interrupt-parent")),
    };
    let Some(controller) = parent.and_then(|phandle| tree.by_phandle(phandle)) else {
        return none;
    };
    let count = last(&controller).cell("#interrupt-cells").unwrap_or(3) as usize;
    let specifiers: Vec<u32> = match extended {
        Some(cells) => cells.chunks(count + 1).map(|s| s[2]).collect(),
        None => {
            let cells = node.cells("interrupts").unwrap_or_default();
            cells.chunks(count).map(|s| s[1]).collect()
        }
    };
    let mut names = node.texts("interrupt-names");
    if node.value("interrupt-names").is_none() {
        names = ["sec-phys", "phys", "virt", "hyp-phys"]
            .map(String::from)
            .to_vec();
    }
    let intid = |name: &str| {
        let place = names.iter().position(|own| own == name)?;
        Some(specifiers.get(place)? + 16)
    };
    let stride = last(&controller).cells("redistributor-stride");
    let stride = stride.map(|cells| cells.iter().fold(0, |n, c| (n << 32) | u64::from(*c)));
    let gic = Gic {
        stride: stride.filter(|stride| *stride != 0),
        is_v3: last(&controller).is("arm,gic-v3"),
        regions: node::regions(&controller).unwrap_or_default(),
        redistributors: last(&controller)
            .cell("#redistributor-regions")
            .unwrap_or(1) as usize,
    };
    (Some(gic), ["phys", "virt", "hyp-phys"].map(intid))
}

fn frame(ways: &[Way<'_>]) -> Option<Frame> {
    let timer = ways.iter().find(|w| last(w).is("arm,armv7-timer-mem"))?;
    let of_timer = |w: &&Way<'_>| w.len() > 1 && std::ptr::eq(w[w.len() - 2], last(timer));
    let mut below = ways.iter().filter(of_timer);
    let frame = below.find(|w| last(w).value("frame-number").is_some())?;
    let base = |way: &Way<'_>| Some(node::regions(way)?.first()?.0);
    let number = last(frame).cell("frame-number")?;
    let interrupt = last(frame).cells("interrupts")?;
    Some((base(timer)?, number, base(frame)?, interrupt.get(1)? + 32))
}

fn cpus(tree: &Tree) -> Vec<&Node> {
    let Some(cpus) = tree.at("/cpus") else {
        return Vec::new();
    };
    let is_cpu = |node: &&Node| match node.text("device_type") {
        Some(kind) => kind == "cpu",
        None => node.name.starts_with("cpu@"),
    };
    let mut cpus: Vec<&Node> = last(&cpus).children.iter().filter(is_cpu).collect();
    cpus.retain(|node| node.enabled());
    cpus.sort_by_key(|node| mpidr(node));
    cpus
}

fn mpidr(cpu: &Node) -> u64 {
    let cells = cpu.cells("reg").unwrap_or_default();
    cells.iter().fold(0, |n, cell| (n << 32) | u64::from(*cell))
}

fn methods(tree: &Tree) -> Vec<String> {
    let methods = cpus(tree)
        .into_iter()
        .filter_map(|cpu| cpu.text("enable-method"));
    methods.filter(|method| method != "psci").collect()
}

/// Labels by cpu-map: clusters counted as they come, by number and depth.
fn labels(tree: &Tree) -> Option<Vec<Label>> {
    let map = tree.at("/cpus/cpu-map")?;
    let by_phandle: BTreeMap<u32, u64> = cpus(tree)
        .into_iter()
        .filter_map(|cpu| Some((cpu.cell("phandle")?, mpidr(cpu))))
        .collect();
    let mut leaves = Vec::new();
    let mut clusters = 0;
    descend(last(&map), &mut clusters, &mut leaves);
    let mut labels: Vec<Label> = leaves
        .into_iter()
        .filter_map(|(phandle, cluster, core, thread)| {
            Some((*by_phandle.get(&phandle)?, cluster, core, thread))
        })
        .collect();
    labels.sort_unstable();
    Some(labels)
}

fn descend(node: &Node, clusters: &mut u16, leaves: &mut Vec<(u32, u16, u16, u16)>) {
    let cores = numbered(node, "core");
    for (core, node) in &cores {
        leaves.extend(node.cell("cpu").map(|cpu| (cpu, *clusters, *core, 0)));
        for (thread, node) in numbered(node, "thread") {
            leaves.extend(node.cell("cpu").map(|cpu| (cpu, *clusters, *core, thread)));
        }
    }
    *clusters += u16::from(!cores.is_empty());
    for kind in ["socket", "cluster"] {
        for (_, node) in numbered(node, kind) {
            descend(node, clusters, leaves);
        }
    }
}

fn numbered<'n>(node: &'n Node, kind: &str) -> Vec<(u16, &'n Node)> {
    let number = |child: &'n Node| Some((child.name.strip_prefix(kind)?.parse().ok()?, child));
    let mut found: Vec<_> = node.children.iter().filter_map(number).collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

fn reserved(tree: &Tree) -> Vec<(u64, u64)> {
    let mut reserved = tree.reservations.clone();
    reserved.retain(|(_, size)| *size != 0);
    if let Some(parent) = tree.at("/reserved-memory") {
        for child in last(&parent).children.iter().filter(|c| c.enabled()) {
            let mut way = parent.clone();
            way.push(child);
            reserved.extend(node::regions(&way).expect("memory within reach"));
        }
    }
    reserved
}
