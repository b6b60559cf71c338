// A BL33 of its own, for tests/payload: it passes MPIDR_EL1 on as target_cpu as
// it reads the register, bit 31 (RES1) and all, as TFTF does. It runs on two
// CPUs, and uses no memory, no MMU, and nothing of the payload's.
//
// Lines: "mpidr NAME X", X the digit of W0, or "!" if W0 is above 9.

    .text
    .set    UART, 0x09000000

    .macro  ask function, first, second
    ldr     w0, =\function
    mov     x1, \first
    mov     x2, \second
    mov     x3, xzr
    smc     #0
    .endm

    .macro  told name
    adr     x22, .Lname_\name
    bl      print
    b       .Lnext_\name
.Lname_\name:
    .asciz  "mpidr \name "
    .balign 4
.Lnext_\name:
    .endm

start:
    mrs     x19, mpidr_el1
    add     x20, x19, #1                // the second CPU's
    tst     x19, #(1 << 31)
    cset    w0, ne
    told    bit_31

    ask     0xc4000004, x19, xzr
    told    affinity_info

    adr     x21, second
    ask     0xc4000003, x20, x21
    told    cpu_on

    // At most so often: a CPU that never comes is ON_PENDING, 2.
    ldr     w23, =0x100000
1:  sub     w23, w23, #1
    cbz     w23, 2f
    yield
    ask     0xc4000004, x20, xzr
    cbnz    w0, 1b
2:  told    affinity_info_of_second

    // CPU_ON ended one stay in core-off.
    ldr     x21, =0x10002
    ask     0xc4000011, x20, x21
    told    stat_count

    // ENTER_PSCI.
    ldr     x21, =0x41000400
    ask     0xc7000020, x21, x19
    told    pmf

    ldr     w0, =0x84000008             // SYSTEM_OFF
    smc     #0
second:
    wfi
    b       second

// Prints the string at X22, W0 and the end of the line.
print:
    ldr     x14, =UART
1:  ldrb    w12, [x22], #1
    cbz     w12, 2f
    str     w12, [x14]
    b       1b
2:  add     w12, w0, #'0'
    mov     w13, #'!'
    cmp     w0, #9
    csel    w12, w12, w13, ls
    str     w12, [x14]
    mov     w12, #'\n'
    str     w12, [x14]
    ret

    .ltorg
