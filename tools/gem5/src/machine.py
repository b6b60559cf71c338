# The machine that gem5 simulates: VExpress_GEM5_Foundation, with the caches and
# the memory that `cargo xtask gem5` asks for. It boots BL1 from address 0, and
# its UART is gem5's standard output.
#
# It uses gem5's own example files for the machine's buses and the CPU models.

import argparse
import os
import struct
import sys

import m5
from m5.objects import (
    AddrRange,
    ArmFsWorkload,
    AtomicSimpleCPU,
    MinorCPU,
    SimpleMemory,
    VExpress_GEM5_Foundation,
)


# The frequency of the system counter (TF-A: SYS_COUNTER_FREQ_IN_TICKS).
COUNTER_HZ = 100000000

# The PMU's interrupt, which nothing enables.
PMU_PPI = 23

# Where CPUs start: at the end of the memory that BL1 is in. Five instructions set
# the stack pointer to the next page, and branch to BL1.
RESET = 0x03FF0000
RESET_CODE = [
    0xD2A07FE0,  # mov x0, #0x3ff0000
    0x91400400,  # add x0, x0, #1, lsl #12
    0x9100001F,  # mov sp, x0
    0xD2800000,  # mov x0, #0
    0xD61F0000,  # br x0
]


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gem5", required=True)
    parser.add_argument("--cpu", choices=["atomic", "minor", "hpi"], required=True)
    parser.add_argument("--clusters", required=True)
    parser.add_argument("--clock", required=True)
    parser.add_argument("--l1", required=True)
    parser.add_argument("--l2", required=True)
    parser.add_argument("--memory-latency", required=True)
    parser.add_argument("--bl1", required=True)
    parser.add_argument("--fip", required=True)
    return parser.parse_args()


arguments = parse_arguments()
for folder in ["configs", "configs/example/arm"]:
    sys.path.append(os.path.join(arguments.gem5, folder))

import devices
from common.cores.arm import HPI


def sized(cache, size):
    """Returns the class `cache` with another size."""
    return type(cache.__name__, (cache,), {"size": size})


def cpu_classes():
    """Returns the classes of the CPU, its three L1 and L2 caches."""
    caches = {
        "minor": (MinorCPU, devices.L1I, devices.L1D, devices.L2),
        "hpi": (HPI.HPI, HPI.HPI_ICache, HPI.HPI_DCache, HPI.HPI_L2),
    }
    if arguments.cpu not in caches:
        return (AtomicSimpleCPU, None, None, None)
    cpu, l1i, l1d, l2 = caches[arguments.cpu]
    return (
        cpu,
        sized(l1i, arguments.l1),
        sized(l1d, arguments.l1),
        sized(l2, arguments.l2),
    )


def make_clusters(system, classes):
    for count in arguments.clusters.split(","):
        cluster = devices.ArmCpuCluster(
            system, int(count), arguments.clock, "1.0V", *classes
        )
        # TF-A numbers the CPUs of each cluster from 0 (Aff0 of the MPIDR).
        for index, cpu in enumerate(cluster.cpus):
            cpu.cpu_id = index
            # TGran16 (bits 20 to 23) is 15 in gem5 24.0, which TF-A 2.15 rejects.
            for isa in cpu.isa:
                isa.id_aa64mmfr0_el1 = int(isa.id_aa64mmfr0_el1) & ~0xF00000
        yield cluster


def write_reset_code():
    """Writes RESET_CODE to a file next to BL1, and returns its path.

    At reset, TF-A 2.12's fvp platform calls a C function on each CPU but the
    first, before the CPU has a stack. On Arm's models, these CPUs are off at reset.
    """
    path = os.path.join(os.path.dirname(arguments.bl1), "reset.bin")
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(RESET_CODE)}I", *RESET_CODE))
    return path


def make_system():
    classes = cpu_classes()
    mode = classes[0].memory_mode()
    has_caches = mode == "timing"
    platform = VExpress_GEM5_Foundation()
    # Later versions of TF-A use more than gem5's 256 KiB (FVP_TRUSTED_SRAM_SIZE).
    platform.trusted_sram.range = AddrRange(0x04000000, size="512KiB")
    # TF-A sets CNTFRQ_EL0 to this, but gem5's counter would run at 25 MHz.
    platform.sys_counter.freqs = [COUNTER_HZ]
    system = devices.SimpleSystem(
        has_caches, "2GiB", platform=platform, mem_mode=mode
    )
    system.main_memory = [
        SimpleMemory(range=region, latency=arguments.memory_latency)
        for region in system.mem_ranges
    ]
    for memory in system.main_memory:
        memory.port = system.membus.mem_side_ports
    system.connect()
    system.cpu_cluster = list(make_clusters(system, classes))
    system.addCaches(has_caches, last_cache_level=2)
    # TF-A 2.15 requires a PMU.
    for cluster in system.cpu_cluster:
        cluster.addPMUs([PMU_PPI] * len(cluster))
    system.auto_reset_addr = False
    system.reset_addr = RESET
    system.highest_el_is_64 = True
    system.realview.gic.gicv4 = False
    system.terminal.outfile = "stdoutput"

    workload = ArmFsWorkload()
    workload.dtb_addr = 0
    workload.extras = [arguments.bl1, arguments.fip, write_reset_code()]
    workload.extras_addrs = [
        system.realview.bootmem.range.start,
        system.realview.flash0.range.start,
        RESET,
    ]
    system.workload = workload
    return system


root = m5.objects.Root(full_system=True, system=make_system())
m5.instantiate()
event = m5.simulate()
print(f"gem5: {event.getCause()}", file=sys.stderr)
sys.exit(event.getCode())
