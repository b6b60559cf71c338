// The loads that a CPU executes while its own or another CPU's timer is measured. Each function
// makes one pass over a range of bytes, or one call:
//
//   In: x0 = address of the first byte, x1 = size in bytes (a multiple of the page size,
//   or of 64 for stress_write), x2 = data cache line size, x3 = DC ZVA block size.
//   The range is Normal memory, and its contents are never read.
//   The functions use only x0 to x5 and the flags, and no stack, because stress_loop runs
//   them while the timer interrupt may be taken at any instruction. Firmware may change x0 to x17
//   in a call (SMCCC, DEN0028, section 2.6).

    .section .text.stress, "ax"

// Waits for an interrupt without generating any load.
    .global stress_idle
stress_idle:
    wfi
    ret

// Plain stores: lines are allocated and become dirty.
    .global stress_write
stress_write:
    stp     x0, x1, [x0]
    stp     x0, x1, [x0, #16]
    stp     x0, x1, [x0, #32]
    stp     x0, x1, [x0, #48]
    add     x0, x0, #64
    subs    x1, x1, #64
    b.hi    stress_write
    ret

// DC ZVA: zeroes whole blocks, which need not be read first.
    .global stress_zero
stress_zero:
    dc      zva, x0
    add     x0, x0, x3
    subs    x1, x1, x3
    b.hi    stress_zero
    ret

// Stores with a hint that the line will not be needed again.
    .global stress_nontemporal
stress_nontemporal:
    stnp    x0, x1, [x0]
    stnp    x0, x1, [x0, #16]
    stnp    x0, x1, [x0, #32]
    stnp    x0, x1, [x0, #48]
    add     x0, x0, #64
    subs    x1, x1, #64
    b.hi    stress_nontemporal
    ret

// Makes lines dirty, and cleans and invalidates them to the point of coherency. Cleaning alone (DC
// CVAC) may lose stores to the line, or hang, on Cortex-A53 r0p0 to r0p2 (errata 819472, 824069 and
// 827319); the load is the same on all CPUs. The end address is aligned to every possible cache
// line size.
    .global stress_clean
stress_clean:
    add     x1, x1, x0                  // the end
1:  str     x0, [x0]
    dc      civac, x0
    add     x0, x0, x2
    str     x0, [x0]
    dc      civac, x0
    add     x0, x0, x2
    cmp     x0, x1
    b.lo    1b
    dsb     sy                          // wait for completion
    ret

// PSCI_VERSION.
    .global stress_smc
stress_smc:
    mov     w0, #0x84000000
    smc     #0
    ret

    .global stress_hvc
stress_hvc:
    mov     w0, #0x84000000
    hvc     #0
    ret
    .global stress_end
stress_end:
