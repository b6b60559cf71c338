//! The kinds of images in a FIP.
//!
//! Names, order and UUIDs are those of TF-A's `fiptool` (TF-A 2.12.1,
//! `tools/fiptool/tbbr_config.c` and `include/tools_share/firmware_image_package.h`).

use uuid::Uuid;

/// A kind of image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The option that names its file, without the dashes.
    pub option: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The UUID in a FIP.
    pub uuid: Uuid,
}

/// Returns the kind that has this UUID.
pub fn known(uuid: Uuid) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.uuid == uuid)
}

/// Returns the kind that has this option.
pub fn called(option: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.option == option)
}

/// Returns the UUID of the kind that has this option; of another word the nil UUID, which
/// no image has.
pub fn uuid_of(option: &str) -> Uuid {
    called(option).map_or(Uuid::nil(), |kind| kind.uuid)
}

/// Reads a UUID of the command line.
pub fn parse_uuid(text: &str) -> Result<Uuid, String> {
    let wrong = |_| format!("{text:?} is no UUID: those have the form 8-4-4-4-12");
    Uuid::try_parse(text).map_err(wrong)
}

const fn kind(option: &'static str, title: &'static str, uuid: u128) -> Kind {
    let uuid = Uuid::from_u128(uuid);
    Kind {
        option,
        title,
        uuid,
    }
}

/// All kinds, in the order in which fiptool packs them.
pub const KINDS: [Kind; 34] = [
    kind(
        "scp-fwu-cfg",
        "SCP Firmware Updater Configuration FWU SCP_BL2U",
        0x65922703_2f74e644_8dff579a_c1ff0610,
    ),
    kind(
        "ap-fwu-cfg",
        "AP Firmware Updater Configuration BL2U",
        0x60b3eb37_c1e5ea41_9df319ed_a11f6801,
    ),
    kind(
        "fwu",
        "Firmware Updater NS_BL2U",
        0x4f511d11_2be54e49_b4c583c2_f715840a,
    ),
    kind(
        "fwu-cert",
        "Non-Trusted Firmware Updater certificate",
        0x71408ab2_18d6874c_8b2ec6dc_cd50f096,
    ),
    kind(
        "tb-fw",
        "Trusted Boot Firmware BL2",
        0x5ff9ec0b_4d223e4d_a544c39d_81c73f0a,
    ),
    kind(
        "scp-fw",
        "SCP Firmware SCP_BL2",
        0x9766fd3d_89bee849_ae5d78a1_40608213,
    ),
    kind(
        "soc-fw",
        "EL3 Runtime Firmware BL31",
        0x47d4086d_4cfe9846_9b952950_cbbd5a00,
    ),
    kind(
        "tos-fw",
        "Secure Payload BL32 (Trusted OS)",
        0x05d0e189_53dc1347_8d2b500a_4b7a3e38,
    ),
    kind(
        "tos-fw-extra1",
        "Secure Payload BL32 Extra1 (Trusted OS Extra1)",
        0x0b70c29b_2a5a7840_9f650a56_82738288,
    ),
    kind(
        "tos-fw-extra2",
        "Secure Payload BL32 Extra2 (Trusted OS Extra2)",
        0x8ea87bb1_cfa23f4d_85fde7bb_a50220d9,
    ),
    kind(
        "nt-fw",
        "Non-Trusted Firmware BL33",
        0xd6d0eea7_fcead54b_97829934_f234b6e4,
    ),
    kind(
        "rmm-fw",
        "Realm Monitor Management Firmware",
        0x6c0762a6_12f24b56_92cbba8f_633606d9,
    ),
    kind(
        "fw-config",
        "FW_CONFIG",
        0x5807e16a_845947be_8ed5648e_8dddab0e,
    ),
    kind(
        "hw-config",
        "HW_CONFIG",
        0x08b8f1d9_c9cf9349_a9626fbc_6b7265cc,
    ),
    kind(
        "tb-fw-config",
        "TB_FW_CONFIG",
        0x6c0458ff_af6b7d4f_82edaa27_bc69bfd2,
    ),
    kind(
        "soc-fw-config",
        "SOC_FW_CONFIG",
        0x9979814b_0376fb46_8c8e8d26_7f7859e0,
    ),
    kind(
        "tos-fw-config",
        "TOS_FW_CONFIG",
        0x26257c1a_dbc67f47_8d96c4c4_b0248021,
    ),
    kind(
        "nt-fw-config",
        "NT_FW_CONFIG",
        0x28da9815_93e87e44_ac661aaf_801550f9,
    ),
    kind(
        "rot-cert",
        "Root Of Trust key certificate",
        0x862d1d72_f860e411_920b8be7_62160f24,
    ),
    kind(
        "trusted-key-cert",
        "Trusted key certificate",
        0x827ee890_f860e411_a1b4777a_21b4f94c,
    ),
    kind(
        "scp-fw-key-cert",
        "SCP Firmware key certificate",
        0x024221a1_f860e411_8d9bf33c_0e15a014,
    ),
    kind(
        "soc-fw-key-cert",
        "SoC Firmware key certificate",
        0x8ab8becc_f960e411_9ad0eb48_22d8dcf8,
    ),
    kind(
        "tos-fw-key-cert",
        "Trusted OS Firmware key certificate",
        0x9477d603_fb60e411_85ddb710_5b8cee04,
    ),
    kind(
        "nt-fw-key-cert",
        "Non-Trusted Firmware key certificate",
        0x8ad5832a_fb60e411_8aafdf30_bbc49859,
    ),
    kind(
        "tb-fw-cert",
        "Trusted Boot Firmware BL2 certificate",
        0xd6e269ea_5d63e411_8d8c9fba_be9956a5,
    ),
    kind(
        "scp-fw-cert",
        "SCP Firmware content certificate",
        0x44be6f04_5e63e411_b28b73d8_eaae9656,
    ),
    kind(
        "soc-fw-cert",
        "SoC Firmware content certificate",
        0xe2b20c20_5e63e411_9ce8abcc_f92bb666,
    ),
    kind(
        "tos-fw-cert",
        "Trusted OS Firmware content certificate",
        0xa49f4411_5e63e411_87283f05_722af33d,
    ),
    kind(
        "nt-fw-cert",
        "Non-Trusted Firmware content certificate",
        0x8ec4c1f3_5d63e411_a7a987ee_40b23fa7,
    ),
    kind(
        "sip-sp-cert",
        "SiP owned Secure Partition content certificate",
        0x776dfd44_86974c3b_91ebc13e_025a2a6f,
    ),
    kind(
        "plat-sp-cert",
        "Platform owned Secure Partition content certificate",
        0xddcbbf4a_cad611ea_87d00242_ac130003,
    ),
    kind(
        "cca-cert",
        "CCA Content Certificate",
        0x36d83d85_761d4daf_96f1cd99_d6569b00,
    ),
    kind(
        "core-swd-cert",
        "Core Secure World Key Certificate",
        0x52222d31_820f494d_8bbcea68_25d3c35a,
    ),
    kind(
        "plat-key-cert",
        "Platform Key Certificate",
        0xd43cd902_5b9f412e_8ac692b6_d18be60d,
    ),
];

/// Returns the name of an entry for a message.
pub(crate) fn label(uuid: Uuid) -> String {
    match known(uuid) {
        Some(kind) => format!("{}, {}", kind.option, kind.title),
        None => format!("UUID {uuid:X}"),
    }
}
