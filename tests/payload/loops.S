// A program of its own, for tests/payload/micro.rs: the loops of the micro-benchmarks as
// one writes them by hand, each timed by the virtual counter and printed. It is
// booted as the payload is, on one CPU under the instruction clock, and uses no
// memory, no MMU, and nothing of the payload's.
//
// Symbols that the assembler is given:
//   GIC  2 or 3
//   HVC  1 for HVC, 0 for SMC
//   COUNT  iterations of each loop, 1 to 65535
//
// Lines: "loop NAME TICKS", the ticks as 16 hexadecimal digits.

    .text
// An arm64 Image header (Linux, arch/arm64/boot.rst), for QEMU's -kernel.
    b       start
    .word   0
    .quad   0                           // text_offset
    .quad   end                         // image_size
    .quad   0xa                         // little-endian, 4 KiB, anywhere
    .quad   0, 0, 0
    .ascii  "ARM\x64"
    .word   0

    .set    UART, 0x09000000
    .set    GICD, 0x08000000
    .set    GICC, 0x08010000
    .set    GICR, 0x080a0000

    .macro  conduit
    .if     HVC
    hvc     #0
    .else
    smc     #0
    .endif
    .endm

// Times what follows, up to done: X19 counts down from COUNT.
    .macro  time
    mov     x19, #COUNT
    isb
    mrs     x20, cntvct_el0
    .endm

    .macro  done name
    isb
    mrs     x21, cntvct_el0
    sub     x21, x21, x20
    adr     x22, .Lname_\name
    bl      print
    b       .Lnext_\name
.Lname_\name:
    .asciz  "\name"
    .balign 4
.Lnext_\name:
    .endm

    .macro  null name, function
    time
1:  movz    w0, #\function, lsl #16
    conduit
    sub     x19, x19, #1
    cbnz    x19, 1b
    done    \name
    .endm

start:
    msr     daifset, #0xf
    bl      gic

    // The first time is like all others under the instruction clock, but
    // caches of the firmware's own may be filled.
    movz    w0, #0x8400, lsl #16
    conduit

    null    psci_version, 0x8400
    null    smccc_version, 0x8000
    null    unknown, 0xaf00

    .if     GIC == 2
    ldr     x3, =(2 << 24)              // SGI 0, to oneself
    ldr     x4, =(GICD + 0xf00)         // GICD_SGIR
    ldr     x5, =(GICC + 0xc)           // GICC_IAR
    ldr     x6, =(GICC + 0x10)          // GICC_EOIR
    time
1:  str     w3, [x4]
2:  ldr     w7, [x5]
    and     w8, w7, #0x3ff
    cbnz    w8, 3f
    str     w7, [x6]
    sub     x19, x19, #1
    cbnz    x19, 1b
    .else
    mov     x3, #1                      // SGI 0, to CPU 0
    time
1:  msr     s3_0_c12_c11_5, x3          // ICC_SGI1R_EL1
    isb
2:  mrs     x7, s3_0_c12_c12_0          // ICC_IAR1_EL1
    and     x8, x7, #0xffffff
    cbnz    x8, 3f
    msr     s3_0_c12_c12_1, x7          // ICC_EOIR1_EL1
    sub     x19, x19, #1
    cbnz    x19, 1b
    .endif
    b       4f
3:  wfi
    b       2b
4:  done    sgi

    time
1:  mrs     x3, pmselr_el0
    sub     x19, x19, #1
    cbnz    x19, 1b
    done    pmselr

    movz    w0, #0x8400, lsl #16
    movk    w0, #0x0008                 // SYSTEM_OFF
    conduit
    b       .

// Sets up SGI 0, to be polled.
gic:
    ldr     x3, =GICD
    .if     GIC == 2
    mov     w4, #1
    str     w4, [x3]                    // GICD_CTLR: the group of this view
    str     w4, [x3, #0x100]            // GICD_ISENABLER0
    ldr     x3, =GICC
    mov     w5, #0xff
    str     w5, [x3, #4]                // GICC_PMR
    str     w4, [x3]                    // GICC_CTLR
    ret
    .else
    mrs     x4, CurrentEL
    cmp     x4, #8
    b.ne    1f
    mov     x4, #0xf
    msr     s3_4_c12_c9_5, x4           // ICC_SRE_EL2: SRE, Enable
    isb
1:  mov     x4, #7
    msr     s3_0_c12_c12_5, x4          // ICC_SRE_EL1: SRE
    isb
    mov     w4, #0x12                   // GICD_CTLR: ARE, EnableGrp1
    str     w4, [x3]
    ldr     x3, =GICR
    str     wzr, [x3, #0x14]            // GICR_WAKER: awake
2:  ldr     w4, [x3, #0x14]
    tbnz    w4, #2, 2b                  // ChildrenAsleep
    add     x3, x3, #0x10000
    mov     w4, #1
    str     w4, [x3, #0x80]             // GICR_IGROUPR0: group 1
    str     w4, [x3, #0x100]            // GICR_ISENABLER0
    mov     x4, #0xff
    msr     s3_0_c4_c6_0, x4            // ICC_PMR_EL1
    mov     x4, #1
    msr     s3_0_c12_c12_7, x4          // ICC_IGRPEN1_EL1
    isb
    ret
    .endif

// Prints "loop NAME TICKS": X22 the name, X21 the ticks.
print:
    mov     x15, x30
    ldr     x14, =UART
    adr     x13, .Lloop
    bl      string
    mov     x13, x22
    bl      string
    mov     w12, #' '
    str     w12, [x14]
    mov     x11, #64
1:  sub     x11, x11, #4
    lsr     x12, x21, x11
    and     w12, w12, #0xf
    add     w10, w12, #'0'
    add     w9, w12, #('a' - 10)
    cmp     w12, #10
    csel    w12, w10, w9, lo
    str     w12, [x14]
    cbnz    x11, 1b
    mov     w12, #'\n'
    str     w12, [x14]
    mov     x30, x15
    ret
string:
1:  ldrb    w12, [x13], #1
    cbz     w12, 2f
    str     w12, [x14]
    b       1b
2:  ret
.Lloop:
    .asciz  "loop "

    .balign 8
    .ltorg
    .balign 8
    .set    end, . - 0
