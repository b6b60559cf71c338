/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The fault specification comes from QEMU's command line, through the device
 * with which QEMU passes files to firmware:
 *
 *   -fw_cfg name=opt/psci-bench/fault,string=SPEC
 *
 * so a single firmware build can have any fault. The device's selector and the
 * numbers in its directory are big-endian; files are read byte by byte.
 */

#include <endian.h>
#include <string.h>

#include <lib/mmio.h>
#include <platform_def.h>

#include <psci_bench_faults.h>

#define FW_CFG_BASE		0x09020000U
#define FW_CFG_DATA		(FW_CFG_BASE + 0x0U)
#define FW_CFG_SELECTOR		(FW_CFG_BASE + 0x8U)

/* Keys that always exist. */
#define KEY_SIGNATURE		0x00U
#define KEY_DIRECTORY		0x19U

#define NAME_LENGTH		56U
#define FILE_NAME		"opt/psci-bench/fault"

/* Selecting a file rewinds it to its first byte. */
static void choose(uint16_t key)
{
	mmio_write_16(FW_CFG_SELECTOR, htobe16(key));
}

static void take(void *to, unsigned int length)
{
	uint8_t *bytes = to;
	unsigned int i;

	for (i = 0U; i < length; i++) {
		bytes[i] = mmio_read_8(FW_CFG_DATA);
	}
}

bool pb_fw_cfg_read_fault(char *text, unsigned int size)
{
	struct {
		uint32_t size;
		uint16_t key;
		uint16_t unused;
		char name[NAME_LENGTH];
	} entry;
	char signature[4];
	uint32_t files;
	uint32_t i;

	choose(KEY_SIGNATURE);
	take(signature, sizeof(signature));
	if (memcmp(signature, "QEMU", sizeof(signature)) != 0) {
		pb_fault_refuse("fw_cfg", "this machine has no such device");
	}

	choose(KEY_DIRECTORY);
	take(&files, sizeof(files));
	for (i = 0U; i < be32toh(files); i++) {
		take(&entry, sizeof(entry));
		if (strncmp(entry.name, FILE_NAME, NAME_LENGTH) != 0) {
			continue;
		}

		/* A truncated specification could be a different, valid one. */
		if (be32toh(entry.size) >= size) {
			pb_fault_refuse(FILE_NAME, "too long");
		}
		choose(be16toh(entry.key));
		take(text, be32toh(entry.size));
		text[be32toh(entry.size)] = '\0';

		return true;
	}

	return false;
}
