//! CPUs as a list of MPIDR, cluster, core and thread values, for serde's `with` attribute.

use alloc::vec::Vec;

use crate::hex;
use hardware::board::Mpidr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Cpu;

#[derive(Serialize, Deserialize)]
struct Packed(#[serde(with = "hex::option")] Option<Mpidr>, u16, u16, u16);

pub(super) fn serialize<S: Serializer>(cpus: &[Cpu], to: S) -> Result<S::Ok, S::Error> {
    let packed = |cpu: &Cpu| Packed(cpu.mpidr, cpu.cluster, cpu.core, cpu.thread);
    to.collect_seq(cpus.iter().map(packed))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Cpu>, D::Error> {
    let unpacked = |Packed(mpidr, cluster, core, thread)| Cpu {
        mpidr,
        cluster,
        core,
        thread,
        identity: None,
    };
    let list = Vec::deserialize(from)?;
    Ok(list.into_iter().map(unpacked).collect())
}
