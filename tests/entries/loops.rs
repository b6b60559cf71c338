//! The micro-benchmark loops, and the timed regions around them.

use test_support::code::Code;

use super::{HVC, ISB, PATHS, SMC};

const RET: u32 = 0xd65f_03c0;
/// `blr x27`.
const TO_THE_LOOP: u32 = 0xd63f_0360;
const PMCCNTR: u32 = 0xd53b_9d00;
/// `subs x19, x19, #1`: counts down the remaining operations.
const ONE_LESS: u32 = 0xf100_0673;
/// `mov x0, x20`: the function ID.
const FUNCTION: u32 = 0xaa14_03e0;

/// Returns a `b.ne` to the instruction at this distance, in words.
const fn unless_equal(words: i32) -> u32 {
    0x5400_0001 | (words as u32 & 0x7_ffff) << 5
}

/// `dsb sy`.
const DSB: u32 = 0xd503_3f9f;

/// add x21, x21, #32; and x21, x21, #0xfff; str x21, [x20]; mrs x9, icc_iar1_el1; cmp x9, x22;
/// b.ne; dsb sy; msr icc_eoir1_el1, x9.
const LPI: [u32; 8] = [
    0x9100_82b5,
    0x9240_2eb5,
    0xf900_0295,
    0xd538_cc09,
    0xeb16_013f,
    unless_equal(6),
    DSB,
    0xd518_cc29,
];

/// Checks the instructions between the two counter reads around a loop.
#[test]
fn a_region_is_the_loop_and_nothing_else() {
    let code = Code::load();
    for (path, _, counter, twice) in PATHS {
        for cycles in [false, true] {
            let reads = |first_register: u32, second_register: u32| {
                let second_register = twice.then_some(counter | second_register);
                [counter | first_register]
                    .into_iter()
                    .chain(second_register)
            };
            let pmccntr = |register: u32| cycles.then_some(PMCCNTR | register);
            let before = [ISB].into_iter().chain(pmccntr(26)).chain(reads(24, 25));
            let after = reads(10, 11).chain(pmccntr(9));
            let region: Vec<u32> = before.chain([TO_THE_LOOP, ISB]).chain(after).collect();
            let name = format!("repeat_{path}{}", if cycles { "_cycles" } else { "" });
            let found = code.between(&format!("{name}_begin"), &format!("{name}_end"));
            assert_eq!(found, region, "{name}");
        }
    }
}

/// Checks each loop's instructions, including the RET that follows the last operation.
#[test]
fn a_loop_is_its_operation_and_nothing_else() {
    let code = Code::load();
    let loop_back = |length: i32| [ONE_LESS, unless_equal(-length), RET];
    // mov x1, x21; mov x2, x22; mov x3, x23.
    let arguments = |call| [FUNCTION, 0xaa15_03e1, 0xaa16_03e2, 0xaa17_03e3, call];
    let wait = unless_equal(5);
    let wait_longer = unless_equal(6);
    let wait_longest = unless_equal(8);
    // str w20, [x21]; ldr w9, [x22]; tst w9, #0x3ff; b.ne; str w9, [x22, #4].
    let sgi_v2 = [0xb900_02b4, 0x88df_fec9, 0x7200_253f, wait, 0xb900_06c9];
    // msr icc_sgi1r_el1, x20; isb; mrs x9, icc_iar1_el1; tst x9, #0xffffff; b.ne;
    // dsb sy; msr icc_eoir1_el1, x9.
    let sgi_v3 = [
        0xd518_cbb4,
        ISB,
        0xd538_cc09,
        0xf240_5d3f,
        wait_longer,
        DSB,
        0xd518_cc29,
    ];
    // The replies send the SGI last.
    let reply_v2 = [
        0x88df_fec9,
        0x7200_253f,
        wait_longer,
        0xb900_06c9,
        0xb900_02b4,
    ];
    let reply_v3 = [
        0xd538_cc09,
        0xf240_5d3f,
        wait_longest,
        DSB,
        0xd518_cc29,
        0xd518_cbb4,
        ISB,
    ];
    let operations: [(&str, &[u32]); 15] = [
        ("empty", &[]),
        ("smc", &[FUNCTION, SMC]),
        ("hvc", &[FUNCTION, HVC]),
        ("smc_arguments", &arguments(SMC)),
        ("hvc_arguments", &arguments(HVC)),
        // mrs x9, pmselr_el0.
        ("sysreg", &[0xd53b_9ca9]),
        ("sgi_v2", &sgi_v2),
        ("sgi_v3", &sgi_v3),
        ("reply_v2", &reply_v2),
        ("reply_v3", &reply_v3),
        // ldar w9, [x20]; ldarb w9, [x20].
        ("load", &[0x88df_fe89]),
        ("load_byte", &[0x08df_fe89]),
        // str w20, [x21]; msr icc_eoir1_el1, x20.
        ("eoi_v2", &[0xb900_02b4]),
        ("eoi_v3", &[0xd518_cc34]),
        ("lpi", &LPI),
    ];
    for (name, operation) in operations {
        let name = format!("loop_{name}");
        let mut found = code.between(&name, &format!("{name}_end"));
        // The code that follows handles an SGI that has not arrived yet.
        found.truncate(operation.len() + 3);
        let end = loop_back(operation.len() as i32 + 1);
        assert_eq!(found, [operation, &end[..]].concat(), "{name}");
        assert!(code.symbol(&name).is_multiple_of(64), "{name}");
    }
}
