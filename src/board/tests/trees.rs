//! Trees to test with: a model that can be edited, and boards in it.

use std::collections::HashMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// A node: its properties, then its children.
#[derive(Clone, Default)]
pub struct Model {
    pub name: String,
    pub properties: Vec<(String, Vec<u8>)>,
    pub children: Vec<Model>,
}

impl Model {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_string(),
            ..Self::default()
        }
    }

    pub fn raw(mut self, name: &str, value: &[u8]) -> Self {
        self.set(name, value);
        self
    }

    pub fn cells(self, name: &str, cells: &[u32]) -> Self {
        let value: Vec<u8> = cells.iter().flat_map(|c| c.to_be_bytes()).collect();
        self.raw(name, &value)
    }

    pub fn text(self, name: &str, strings: &[&str]) -> Self {
        let value: Vec<u8> = strings.iter().flat_map(|s| s.bytes().chain([0])).collect();
        self.raw(name, &value)
    }

    pub fn with(mut self, child: Model) -> Self {
        self.children.push(child);
        self
    }

    pub fn set(&mut self, name: &str, value: &[u8]) {
        self.properties.retain(|(n, _)| n != name);
        self.properties.push((name.to_string(), value.to_vec()));
    }

    pub fn at(&mut self, path: &str) -> &mut Self {
        let mut node = self;
        for name in path.split('/').filter(|n| !n.is_empty()) {
            let found = node.children.iter_mut().find(|c| c.name == name);
            node = found.expect(path);
        }
        node
    }

    /// Changes a property: `path:name`.
    pub fn edit(&mut self, at: &str, value: &[u8]) {
        let (path, name) = at.split_once(':').expect("path:name");
        self.at(path).set(name, value);
    }

    /// Removes a property `path:name`, or a node `path`.
    pub fn remove(&mut self, at: &str) {
        if let Some((path, name)) = at.split_once(':') {
            self.at(path).properties.retain(|(n, _)| n != name);
        } else {
            let (parent, name) = at.rsplit_once('/').expect("a path");
            self.at(parent).children.retain(|c| c.name != name);
        }
    }

    /// The flattened tree (Devicetree Specification v0.4, chapter 5). A writer
    /// from elsewhere would refuse what some tests need.
    pub fn blob_reserving(&self, reserved: &[(u64, u64)]) -> Vec<u8> {
        let mut structure = Vec::new();
        let mut strings = Vec::new();
        self.write(&mut structure, &mut strings, &mut HashMap::new());
        structure.extend(be(&[9]));
        let map: Vec<u8> = reserved
            .iter()
            .chain([&(0, 0)])
            .flat_map(|(at, size)| [at.to_be_bytes(), size.to_be_bytes()].concat())
            .collect();
        let lengths = [40, map.len(), structure.len(), strings.len()].map(|n| n as u32);
        let [header, map_size, structure_size, strings_size] = lengths;
        let structure_at = header + map_size;
        let strings_at = structure_at + structure_size;
        let mut blob = be(&[
            0xd00d_feed,
            strings_at + strings_size,
            structure_at,
            strings_at,
            header,
            17,
            16,
            0,
            strings_size,
            structure_size,
        ]);
        blob.extend(map);
        blob.extend(structure);
        blob.extend(strings);
        blob
    }

    pub fn blob(&self) -> Vec<u8> {
        self.blob_reserving(&[])
    }

    fn write<'m>(
        &'m self,
        structure: &mut Vec<u8>,
        strings: &mut Vec<u8>,
        places: &mut HashMap<&'m str, usize>,
    ) {
        let pad = |bytes: &mut Vec<u8>| bytes.resize(bytes.len().next_multiple_of(4), 0);
        structure.extend(be(&[1]));
        structure.extend(self.name.bytes().chain([0]));
        pad(structure);
        for (name, value) in &self.properties {
            let at = *places.entry(name).or_insert_with(|| {
                strings.extend(name.bytes().chain([0]));
                strings.len() - name.len() - 1
            });
            structure.extend(be(&[3, value.len() as u32, at as u32]));
            structure.extend(value);
            pad(structure);
        }
        for child in &self.children {
            child.write(structure, strings, places);
        }
        structure.extend(be(&[2]));
    }
}

pub fn be(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|c| c.to_be_bytes()).collect()
}

fn cpu(mpidr: u32, phandle: u32) -> Model {
    Model::new(&format!("cpu@{mpidr:x}"))
        .text("device_type", &["cpu"])
        .text("compatible", &["arm,cortex-a57"])
        .cells("reg", &[mpidr])
        .text("enable-method", &["psci"])
        .cells("phandle", &[phandle])
}

/// `count` CPUs in clusters of `per_cluster` by cpu-map.
pub fn cpus(mpidrs: &[u32], per_cluster: usize) -> Model {
    let mut cpus = Model::new("cpus")
        .cells("#address-cells", &[1])
        .cells("#size-cells", &[0]);
    let mut map = Model::new("cpu-map");
    for (cluster, members) in mpidrs.chunks(per_cluster).enumerate() {
        let mut node = Model::new(&format!("cluster{cluster}"));
        for (core, mpidr) in members.iter().enumerate() {
            let leaf = Model::new(&format!("core{core}")).cells("cpu", &[0x1000 + mpidr]);
            node = node.with(leaf);
        }
        map = map.with(node);
    }
    for mpidr in mpidrs {
        cpus = cpus.with(cpu(*mpidr, 0x1000 + mpidr));
    }
    cpus.with(map)
}

fn timer() -> Model {
    Model::new("timer")
        .text("compatible", &["arm,armv8-timer"])
        .cells(
            "interrupts",
            &[1, 13, 4, 1, 14, 4, 1, 11, 4, 1, 10, 4, 1, 12, 4],
        )
}

/// What QEMU's virt machine hands over with a GICv3.
pub fn qemu(count: u32) -> Model {
    let mpidrs: Vec<u32> = (0..count).map(|n| ((n / 16) << 8) | (n % 16)).collect();
    Model::new("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .cells("interrupt-parent", &[0x8005])
        .text("model", &["linux,dummy-virt"])
        .text("compatible", &["linux,dummy-virt"])
        .with(
            Model::new("psci")
                .text("compatible", &["arm,psci-1.0", "arm,psci-0.2", "arm,psci"])
                .text("method", &["smc"])
                .cells("cpu_on", &[0xc400_0003]),
        )
        .with(
            Model::new("memory@40000000")
                .text("device_type", &["memory"])
                .cells("reg", &[0, 0x4000_0000, 0, 0x4000_0000]),
        )
        .with(
            Model::new("intc@8000000")
                .cells("phandle", &[0x8005])
                .text("compatible", &["arm,gic-v3"])
                .cells("#interrupt-cells", &[3])
                .cells("#redistributor-regions", &[1])
                .cells(
                    "reg",
                    &[0, 0x0800_0000, 0, 0x1_0000, 0, 0x080a_0000, 0, 0xf6_0000],
                ),
        )
        .with(
            Model::new("pl011@9000000")
                .text("compatible", &["arm,pl011", "arm,primecell"])
                .cells("reg", &[0, 0x0900_0000, 0, 0x1000]),
        )
        .with(cpus(&mpidrs, 4))
        .with(timer())
        .with(Model::new("aliases").text("serial0", &["/pl011@9000000"]))
        .with(
            Model::new("chosen")
                .text("stdout-path", &["/pl011@9000000"])
                .text("bootargs", &["iterations=5 warmup=1"]),
        )
}

/// Like Juno's: GICv2, console by alias under a bus with `ranges`, idle
/// states, a second cluster that Aff0 counts anew.
pub fn juno() -> Model {
    let mut cpus = cpus(&[0x0, 0x1, 0x100, 0x101, 0x102, 0x103], 2);
    cpus.remove("/cpu-map");
    let leaf = |n: u32, mpidr: u32| Model::new(&format!("core{n}")).cells("cpu", &[0x1000 + mpidr]);
    cpus = cpus
        .with(
            Model::new("cpu-map")
                .with(Model::new("cluster0").with(leaf(0, 0)).with(leaf(1, 1)))
                .with(
                    Model::new("cluster1")
                        .with(leaf(0, 0x100))
                        .with(leaf(1, 0x101))
                        .with(leaf(2, 0x102))
                        .with(leaf(3, 0x103)),
                ),
        )
        .with(
            Model::new("idle-states")
                .text("entry-method", &["psci"])
                .with(
                    Model::new("cpu-sleep-0")
                        .text("compatible", &["arm,idle-state"])
                        .cells("arm,psci-suspend-param", &[0x1_0000])
                        .cells("psci-bench,power-level", &[0])
                        .raw("local-timer-stop", &[]),
                )
                .with(
                    Model::new("cluster-sleep-0")
                        .text("compatible", &["arm,idle-state"])
                        .cells("arm,psci-suspend-param", &[0x101_0000]),
                ),
        );
    Model::new("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .text("compatible", &["arm,juno", "arm,vexpress"])
        .with(Model::new("aliases").text("console", &["/bus@7f000000/apb/uart@80000"]))
        .with(Model::new("chosen").text("stdout-path", &["console:115200n8"]))
        .with(
            Model::new("firmware").with(
                Model::new("psci")
                    .text("compatible", &["arm,psci-0.2"])
                    .text("method", &["smc"]),
            ),
        )
        .with(
            Model::new("memory@80000000")
                .text("device_type", &["memory"])
                .cells("reg", &[0, 0x8000_0000, 0, 0x7f00_0000])
                .cells(
                    "reg",
                    &[
                        0,
                        0x8000_0000,
                        0,
                        0x7f00_0000,
                        8,
                        0x8000_0000,
                        1,
                        0x8000_0000,
                    ],
                ),
        )
        .with(
            Model::new("reserved-memory")
                .cells("#address-cells", &[2])
                .cells("#size-cells", &[2])
                .raw("ranges", &[])
                .with(Model::new("optee@fee00000").cells("reg", &[0, 0xfee0_0000, 0, 0x20_0000]))
                .with(Model::new("cma").cells("size", &[0, 0x100_0000]))
                .with(
                    Model::new("off@1000")
                        .cells("reg", &[0, 0x1000, 0, 0x1000])
                        .text("status", &["disabled"]),
                ),
        )
        .with(
            Model::new("interrupt-controller@2c010000")
                .cells("phandle", &[1])
                .text("compatible", &["arm,gic-400", "arm,cortex-a15-gic"])
                .cells("#interrupt-cells", &[3])
                .cells(
                    "reg",
                    &[
                        0,
                        0x2c01_0000,
                        0,
                        0x1000,
                        0,
                        0x2c02_f000,
                        0,
                        0x2000,
                        0,
                        0x2c04_f000,
                        0,
                        0x2000,
                    ],
                ),
        )
        .with(timer())
        .with(cpus)
        .with(
            Model::new("bus@7f000000")
                .text("compatible", &["simple-bus"])
                .cells("#address-cells", &[2])
                .cells("#size-cells", &[1])
                .cells(
                    "ranges",
                    &[
                        0,
                        0,
                        0,
                        0x0800_0000,
                        0x400_0000,
                        3,
                        0,
                        0,
                        0x7f00_0000,
                        0x100_0000,
                    ],
                )
                .with(
                    Model::new("apb")
                        .cells("#address-cells", &[1])
                        .cells("#size-cells", &[1])
                        .cells("ranges", &[0, 3, 0xf0_0000, 0x10_0000])
                        .with(
                            Model::new("uart@80000")
                                .text("compatible", &["arm,pl011", "arm,primecell"])
                                .cells("reg", &[0x8_0000, 0x1000]),
                        ),
                ),
        )
        .cells("serial-number", &[1])
}
