/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_PMF=sip: PMF timestamps in the range where TF-A 2.10 and older had them,
 * that of the silicon provider. Most boards in the field run such firmware, and
 * callers have to detect it. With this file, both kinds can be tested with one
 * version of TF-A.
 *
 * There is no service in the vendor-specific EL3 range of later versions,
 * because it is not built at all (platform.mk).
 *
 * The service has the UID of the service on Arm's own platforms. From that UID
 * a caller knows that the function IDs are PMF's: each silicon provider defines
 * their meaning.
 */

#include <common/runtime_svc.h>
#include <lib/pmf/pmf.h>
#include <lib/smccc.h>
#include <plat/common/platform.h>
#include <smccc_helpers.h>
#include <tools_share/uuid.h>

#include <psci_bench_qemu.h>

#define GET_TIMESTAMP_SMC32	0x82000010U
#define GET_TIMESTAMP_SMC64	0xc2000010U
#define SERVICE_UID		0x8200ff01U

/* plat/arm/common/arm_sip_svc.c */
DEFINE_SVC_UUID2(arm_sip_uid,
	0x556d75e2, 0x6033, 0xb54b, 0xb5, 0x75,
	0x62, 0x79, 0xfd, 0x11, 0x37, 0xff);

static int32_t setup(void)
{
	return pmf_setup();
}

/* x1 = timestamp ID, x2 = MPIDR, x3 = flags. */
static uintptr_t handler(uint32_t fid, u_register_t x1, u_register_t x2,
			 u_register_t x3, u_register_t x4, void *cookie,
			 void *handle, u_register_t flags)
{
	unsigned long long stamp = 0U;
	int rc;

	(void)x4;
	(void)cookie;
	(void)flags;

#if PB_FAULTS && PB_PMF_NEW
	/*
	 * Both interfaces are built in, and this one is used only for its
	 * fault.
	 */
	if (!pb_fault_pmf_is_sip_only()) {
		SMC_RET1(handle, SMC_UNK);
	}
#endif

	if ((fid != GET_TIMESTAMP_SMC32) && (fid != GET_TIMESTAMP_SMC64)) {
		if (fid == SERVICE_UID) {
			SMC_UUID_RET(handle, arm_sip_uid);
		}
		SMC_RET1(handle, SMC_UNK);
	}

	if (fid == GET_TIMESTAMP_SMC32) {
		x2 = (uint32_t)x2;
	}

	/*
	 * For an unknown MPIDR, 2.10 does not write X0: it still contains the
	 * function ID. This is preserved, because callers have to cope with it.
	 */
	if (plat_core_pos_by_mpidr(x2) < 0) {
		return 0U;
	}

	rc = pmf_get_timestamp_smc((unsigned int)x1, x2, (unsigned int)x3,
				   &stamp);

	/* A 32-bit caller has no register wide enough for the value. */
	if (fid == GET_TIMESTAMP_SMC32) {
		SMC_RET3(handle, rc, (uint32_t)stamp, (uint32_t)(stamp >> 32));
	}

	SMC_RET2(handle, rc, stamp);
}

DECLARE_RT_SVC(
	pb_pmf_sip,
	OEN_SIP_START,
	OEN_SIP_END,
	SMC_TYPE_FAST,
	setup,
	handler
);
