//! Image types in a FIP.
//!
//! The names, UUIDs and order come from TF-A's `fiptool` (TF-A 2.12.1,
//! `tools/fiptool/tbbr_config.c` and `include/tools_share/firmware_image_package.h`).

use std::sync::LazyLock;

use thiserror::Error;
use uuid::Uuid;

/// An image that fiptool can put into a FIP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageKind {
    /// The fiptool option for the image file, without the leading dashes.
    pub option: &'static str,
    /// The human-readable name.
    pub title: &'static str,
    /// The UUID that identifies this type in a FIP.
    pub uuid: Uuid,
}

/// Returns the image type with this UUID.
pub fn find_by_uuid(uuid: Uuid) -> Option<&'static ImageKind> {
    IMAGE_KINDS.iter().find(|kind| kind.uuid == uuid)
}

/// Returns the image type with this option.
pub fn find_by_option(option: &str) -> Option<&'static ImageKind> {
    IMAGE_KINDS.iter().find(|kind| kind.option == option)
}

/// Returns the UUID for this option. For an unknown option, returns the nil UUID, which no image
/// uses.
pub fn uuid_of(option: &str) -> Uuid {
    find_by_option(option).map_or(Uuid::nil(), |kind| kind.uuid)
}

/// The error for a malformed UUID.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a UUID of the form 8-4-4-4-12")]
pub struct NotAUuid(String);

/// Parses a UUID from the command line.
///
/// # Errors
/// Returns an error if `text` is not a well-formed UUID.
pub fn parse_uuid(text: &str) -> Result<Uuid, NotAUuid> {
    Uuid::try_parse(text).map_err(|_| NotAUuid(text.to_owned()))
}

/// The UUID, option and title of each image type, in the order in which fiptool packs them.
const TABLE: &str = "\
659227032f74e6448dff579ac1ff0610 scp-fwu-cfg SCP Firmware Updater Configuration FWU SCP_BL2U
60b3eb37c1e5ea419df319eda11f6801 ap-fwu-cfg AP Firmware Updater Configuration BL2U
4f511d112be54e49b4c583c2f715840a fwu Firmware Updater NS_BL2U
71408ab218d6874c8b2ec6dccd50f096 fwu-cert Non-Trusted Firmware Updater certificate
5ff9ec0b4d223e4da544c39d81c73f0a tb-fw Trusted Boot Firmware BL2
9766fd3d89bee849ae5d78a140608213 scp-fw SCP Firmware SCP_BL2
47d4086d4cfe98469b952950cbbd5a00 soc-fw EL3 Runtime Firmware BL31
05d0e18953dc13478d2b500a4b7a3e38 tos-fw Secure Payload BL32 (Trusted OS)
0b70c29b2a5a78409f650a5682738288 tos-fw-extra1 Secure Payload BL32 Extra1 (Trusted OS Extra1)
8ea87bb1cfa23f4d85fde7bba50220d9 tos-fw-extra2 Secure Payload BL32 Extra2 (Trusted OS Extra2)
d6d0eea7fcead54b97829934f234b6e4 nt-fw Non-Trusted Firmware BL33
6c0762a612f24b5692cbba8f633606d9 rmm-fw Realm Monitor Management Firmware
5807e16a845947be8ed5648e8dddab0e fw-config FW_CONFIG
08b8f1d9c9cf9349a9626fbc6b7265cc hw-config HW_CONFIG
6c0458ffaf6b7d4f82edaa27bc69bfd2 tb-fw-config TB_FW_CONFIG
9979814b0376fb468c8e8d267f7859e0 soc-fw-config SOC_FW_CONFIG
26257c1adbc67f478d96c4c4b0248021 tos-fw-config TOS_FW_CONFIG
28da981593e87e44ac661aaf801550f9 nt-fw-config NT_FW_CONFIG
862d1d72f860e411920b8be762160f24 rot-cert Root Of Trust key certificate
827ee890f860e411a1b4777a21b4f94c trusted-key-cert Trusted key certificate
024221a1f860e4118d9bf33c0e15a014 scp-fw-key-cert SCP Firmware key certificate
8ab8beccf960e4119ad0eb4822d8dcf8 soc-fw-key-cert SoC Firmware key certificate
9477d603fb60e41185ddb7105b8cee04 tos-fw-key-cert Trusted OS Firmware key certificate
8ad5832afb60e4118aafdf30bbc49859 nt-fw-key-cert Non-Trusted Firmware key certificate
d6e269ea5d63e4118d8c9fbabe9956a5 tb-fw-cert Trusted Boot Firmware BL2 certificate
44be6f045e63e411b28b73d8eaae9656 scp-fw-cert SCP Firmware content certificate
e2b20c205e63e4119ce8abccf92bb666 soc-fw-cert SoC Firmware content certificate
a49f44115e63e41187283f05722af33d tos-fw-cert Trusted OS Firmware content certificate
8ec4c1f35d63e411a7a987ee40b23fa7 nt-fw-cert Non-Trusted Firmware content certificate
776dfd4486974c3b91ebc13e025a2a6f sip-sp-cert SiP owned Secure Partition content certificate
ddcbbf4acad611ea87d00242ac130003 plat-sp-cert Platform owned Secure Partition content certificate
36d83d85761d4daf96f1cd99d6569b00 cca-cert CCA Content Certificate
52222d31820f494d8bbcea6825d3c35a core-swd-cert Core Secure World Key Certificate
d43cd9025b9f412e8ac692b6d18be60d plat-key-cert Platform Key Certificate";

/// All image types, in fiptool order.
pub static IMAGE_KINDS: LazyLock<Vec<ImageKind>> = LazyLock::new(|| {
    let kind = |row: &'static str| {
        let (uuid, rest) = row.split_once(' ')?;
        let (option, title) = rest.split_once(' ')?;
        let uuid = Uuid::try_parse(uuid).ok()?;
        Some(ImageKind {
            option,
            title,
            uuid,
        })
    };
    TABLE.lines().filter_map(kind).collect()
});

/// Returns an entry's name, for use in messages.
pub fn label(uuid: Uuid) -> String {
    match find_by_uuid(uuid) {
        Some(kind) => format!("{}, {}", kind.option, kind.title),
        None => format!("UUID {uuid:X}"),
    }
}
