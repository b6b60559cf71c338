// Exception vectors. The payload runs with interrupts masked and polls for them. All but three
// exceptions are fatal for the CPU: every vector but one saves a full frame and calls exception().
// The three non-fatal exceptions are a fault in a probe's read (probe.rs) and a trapped write in
// set_vectors (boot.S), which are stepped over, and an IRQ taken with SP_EL0, which a CPU uses only
// while it takes its timer's interrupts (timer_load.S, interrupted_call.S).
//
// The stack may be the cause of the failure, so the frame is saved on the CPU's emergency stack,
// above its ordinary one: TPIDR holds the address of the CPU's channel, whose first word is the top
// of the ordinary stack. Until boot.S sets TPIDR there is no stack, and SP has an arbitrary value.
// SErrors are masked until then, and any other exception parks the CPU.
//
// The scratch registers are TPIDR_EL0 and TPIDRRO_EL0 (for x0 and x1) and SP_EL0 (for SP), which
// the payload does not otherwise use. CONTEXTIDR_EL1 is 1 while an exception is handled. An
// exception in the handler parks the CPU, so the handler cannot recurse.
//
// struct Frame: x0 to x30, then SP, ELR, SPSR, ESR, FAR and the vector number: 37 words, padded
// to 304 bytes to keep SP 16-byte aligned.

    .macro  vector number
    .balign 128
    msr     tpidr_el0, x0               // free two registers
    msr     tpidrro_el0, x1
    mov     x0, #\number
    b       vector_common
    .endm

    .section .vectors, "ax"
    .balign 2048
    .global vectors
vectors:
    vector  0                           // current EL, SP_EL0: synchronous
    .balign 128                         //   IRQ: the timer's
    .global timer_vector
timer_vector:
    tbnz    x28, #0, 1f                 // which counter?
    mrs     x16, cntpct_el0             // twice, because of counter errata
    mrs     x17, cntpct_el0
    b       timer_interrupt
1:  mrs     x16, cntvct_el0
    mov     x17, x16
    b       timer_interrupt
    vector  2                           //   FIQ
    vector  3                           //   SError
    vector  4                           // current EL, SP_ELx: synchronous
    vector  5
    vector  6
    vector  7
    // Eight vectors for lower ELs would follow. Nothing runs at those ELs, so the vectors are never
    // taken, and other code uses their space.

    .section .text.vectors, "ax"
vector_common:
    mrs     x1, contextidr_el1
    cbnz    x1, 6f                      // an exception in the handler
    mov     x1, #1
    msr     contextidr_el1, x1
    mov     x1, sp                      // the original SP
    msr     sp_el0, x1
    mrs     x1, CurrentEL
    tbz     x1, #3, 1f
    mrs     x1, tpidr_el2               // EL2: the channel
    b       2f
1:  mrs     x1, tpidr_el1               // EL1
2:  cbz     x1, 10f                     // no stack yet
    ldr     x1, [x1]                    // top of the ordinary stack
    add     x1, x1, #{EMERGENCY_STACK}  // top of the emergency stack
    mov     sp, x1
    sub     sp, sp, #304
    str     x0, [sp, #288]              // the vector number
    mrs     x0, tpidr_el0
    mrs     x1, tpidrro_el0
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x19, [sp, #144]
    stp     x20, x21, [sp, #160]
    stp     x22, x23, [sp, #176]
    stp     x24, x25, [sp, #192]
    stp     x26, x27, [sp, #208]
    stp     x28, x29, [sp, #224]
    mrs     x1, sp_el0
    stp     x30, x1, [sp, #240]
    mrs     x2, CurrentEL
    tbz     x2, #3, 4f
    mrs     x3, elr_el2                 // EL2
    mrs     x4, spsr_el2
    mrs     x5, esr_el2
    mrs     x6, far_el2
    b       5f
4:  mrs     x3, elr_el1                 // EL1
    mrs     x4, spsr_el1
    mrs     x5, esr_el1
    mrs     x6, far_el1
5:  stp     x3, x4, [sp, #256]
    stp     x5, x6, [sp, #272]

    // If one of the probe's four reads (8 bytes apart) faulted, return 0 to the probe's caller.
    adrp    x7, probe_load
    add     x7, x7, :lo12:probe_load
    sub     x7, x3, x7
    cmp     x7, #24
    b.hi    9f
    tst     x7, #7
    b.ne    9f
    add     x3, x3, #4                  // step over the read
    tbz     x2, #3, 7f
    msr     elr_el2, x3
    b       8f
7:  msr     elr_el1, x3
8:  msr     contextidr_el1, xzr         // handled
    ldp     x2, x3, [sp, #16]           // restore the registers used here
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    mrs     x0, sp_el0
    mov     sp, x0
    mrs     x1, tpidrro_el0
    mov     x0, xzr                     // x0 = 0: not readable
    eret

9:  mov     x0, sp                      // the frame
    bl      {exception}                 // does not return
6:  wfi                                 // nothing more can be printed
    yield
    b       6b

    // Before there is a stack, only a trapped write in set_vectors (boot.S) is stepped over. Memory is
    // not accessed, because the caches may be off.
10: mrs     x1, CurrentEL
    tbz     x1, #3, 11f
    mrs     x1, elr_el2
    b       12f
11: mrs     x1, elr_el1
12: adrp    x0, extensions_start
    add     x0, x0, :lo12:extensions_start
    cmp     x1, x0
    b.lo    6b
    adrp    x0, extensions_end
    add     x0, x0, :lo12:extensions_end
    cmp     x1, x0
    b.hs    6b
    add     x1, x1, #4
    mov     x8, #1                      // for set_vectors
    mrs     x0, CurrentEL
    tbz     x0, #3, 13f
    msr     elr_el2, x1
    b       14f
13: msr     elr_el1, x1
14: msr     contextidr_el1, xzr         // handled
    mrs     x0, tpidr_el0
    mrs     x1, tpidrro_el0
    eret

// probe(x0 = address, x1 = 0 to 3): returns x0 = 1 and x1 = the word at that address (0), the byte (1),
// ICC_SRE_EL1 (2) or DBGPRCR_EL1 (3), or x0 = 0.
    .section .text.probe, "ax"
    .global probe
probe:
    mov     x2, x0
    mov     x0, #1                      // assume success
    cmp     x1, #2
    b.hi    probe_power
    b.eq    probe_register
    cbnz    x1, probe_byte
    .global probe_load
probe_load:
    ldar    w1, [x2]                    // may fault: see above. An acquire, like
    ret
    .global probe_byte
probe_byte:
    ldarb   w1, [x2]                    //   all loads from devices (mmio.rs)
    ret
probe_register:
    mrs     x1, icc_sre_el1             // undefined without a GICv3 CPU interface
    ret
probe_power:
    mrs     x1, dbgprcr_el1             // undefined if a hypervisor or an emulator lacks it
    ret
