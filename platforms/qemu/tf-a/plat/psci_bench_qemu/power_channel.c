/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_POWER_CHANNEL: a power controller that accepts requests over one channel,
 * one at a time, like Juno's SCP. A core occupies the channel from its request
 * until just before its WFI. The controller then needs some time to switch the
 * core off before it accepts the next request. Other cores wait at every power
 * level, including level 0, where TF-A's PSCI code takes no lock.
 *
 * The words are in Device memory, because cores that have left coherency use
 * them. Exclusive accesses do not work there, so the lock is Lamport's bakery
 * lock.
 */

#include <arch_helpers.h>
#include <lib/cassert.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

#define MICROSECONDS		U(1000000)

/*
 * How long the controller takes to switch a core off. Juno's takes about 85 us.
 * With -icount, cores execute their entries one after another, 60 us each, and
 * the queue for the channel must be the longer one.
 */
#define SWITCH_OFF_US		U(500)

struct channel {
	uint64_t free_at;
	/* Set while a core is taking its ticket. */
	uint32_t chooses[PB_CPUS];
	/*
	 * The core's place in the queue, counting from 1; 0 if it is not in the
	 * queue.
	 */
	uint32_t ticket[PB_CPUS];
};

CASSERT(PB_CHANNEL_ADDR + sizeof(struct channel) <=
	PB_SHARED_BASE + PB_SHARED_SIZE, pb_channel_fits);

static volatile struct channel *const channel =
	(volatile struct channel *)PB_CHANNEL_ADDR;

void pb_channel_init(void)
{
	unsigned int i;

	channel->free_at = 0U;
	for (i = 0U; i < PB_CPUS; i++) {
		channel->chooses[i] = 0U;
		channel->ticket[i] = 0U;
	}
}

static bool is_before_me(unsigned int other, unsigned int me)
{
	uint32_t theirs = channel->ticket[other];
	uint32_t mine = channel->ticket[me];

	return (theirs != 0U) &&
	       ((theirs < mine) || ((theirs == mine) && (other < me)));
}

/* Lets an emulator that runs CPUs in turn switch to the next one. */
static void let_others_run(void)
{
	__asm__ volatile ("yield");
}

void pb_channel_take(void)
{
	unsigned int me = plat_my_core_pos();
	uint32_t last = 0U;
	unsigned int i;

	channel->chooses[me] = 1U;
	dsbsy();
	for (i = 0U; i < PB_CPUS; i++) {
		uint32_t theirs = channel->ticket[i];

		last = (theirs > last) ? theirs : last;
	}
	channel->ticket[me] = last + 1U;
	dsbsy();
	channel->chooses[me] = 0U;
	dsbsy();

	for (i = 0U; i < PB_CPUS; i++) {
		while ((channel->chooses[i] != 0U) || is_before_me(i, me)) {
			let_others_run();
		}
	}
	while (read_cntpct_el0() < channel->free_at) {
		let_others_run();
	}
}

void pb_channel_give(void)
{
	uint64_t time = (uint64_t)SWITCH_OFF_US * plat_get_syscnt_freq2() /
			MICROSECONDS;

	channel->free_at = read_cntpct_el0() + time;
	dsbsy();
	channel->ticket[plat_my_core_pos()] = 0U;
	dsbsy();
}
