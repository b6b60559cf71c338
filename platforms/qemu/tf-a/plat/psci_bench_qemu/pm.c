/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The hooks that TF-A's PSCI code calls when a core powers up or down. They
 * only define the order of the steps, which are in power_controller.c,
 * power_loss.S and the GIC files.
 *
 * This file exists because the qemu platform in TF-A 2.12 has no power-down
 * CPU_SUSPEND.
 */

#include <arch_helpers.h>
#include <drivers/gpio.h>
#include <lib/mmio.h>
#include <lib/psci/psci.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

/* CPU_SUSPEND to standby: the core keeps its state and just waits. */
static void cpu_standby(plat_local_state_t state)
{
	unsigned int me = plat_my_core_pos();

	(void)state;

	pb_core_set(me, PB_NODE_STANDBY);
	dsb();
	wfi();
	pb_core_set(me, PB_NODE_ON);
}

/* CPU_ON, on the caller: first the word, then the interrupt (hold_pen.S). */
static int pwr_domain_on(u_register_t mpidr)
{
	unsigned int pos = (unsigned int)plat_core_pos_by_mpidr(mpidr);

	if (pb_fault_loses(pos)) {
		return PSCI_E_SUCCESS;
	}
	if (pb_race_is_lost(pos)) {
		return PB_RACE_ANSWER;
	}

	mmio_write_64(PB_HOLD_ADDR + (pos << PB_HOLD_SHIFT), PB_HOLD_GO);
	dsbsy();
	pb_gic_release_core(mpidr);

	return PSCI_E_SUCCESS;
}

/* CPU_OFF, with the locks of all levels that may power down held. */
static void pwr_domain_off(const psci_power_state_t *target)
{
	pb_nodes_go_down(target, PB_NODE_OFF);
	pb_gic_core_down();
	pb_channel_take();
}

/* CPU_SUSPEND to power-down, with the same locks held. */
static void pwr_domain_suspend(const psci_power_state_t *target)
{
	pb_fault_power_down(target);
	pb_nodes_go_down(target, PB_NODE_SUSPENDED);
	pb_gic_core_down();
	pb_channel_take();
}

/* The last step for both, without locks. */
static void __dead2 pwr_down(const psci_power_state_t *target)
{
	(void)target;

	pb_channel_give();
	pb_core_power_down(pb_core_get(plat_my_core_pos()) ==
			   PB_NODE_SUSPENDED);
}

#if PB_PABANDON
/* The same for a core that can return to TF-A instead. */
static void pwr_down_or_abandon(const psci_power_state_t *target)
{
	if (pb_power_down_is_abandoned()) {
		pb_channel_give();
		return;
	}
	pwr_down(target);
}

#define LAST_STEP	pwr_down_or_abandon
#else
#define LAST_STEP	pwr_down
#endif

/* The first step after CPU_ON, and after a power-down CPU_SUSPEND. */
static void pwr_domain_on_finish(const psci_power_state_t *woken_from)
{
	pb_fault_came_up();
	pb_nodes_come_up(woken_from);
	pb_gic_core_on();
}

static void pwr_domain_suspend_finish(const psci_power_state_t *woken_from)
{
	pb_abandon_finish();
	pb_fault_came_up();
	pb_nodes_come_up(woken_from);
	pb_gic_core_resume();
}

/* A rising edge on a secure GPIO line is how QEMU is told to stop or reset. */
static void __dead2 pulse(int line)
{
	gpio_set_direction(line, GPIO_DIR_OUT);
	gpio_set_value(line, GPIO_LEVEL_LOW);
	gpio_set_value(line, GPIO_LEVEL_HIGH);

	/* QEMU reacts soon, but not immediately. */
	for (;;) {
		wfi();
	}
}

void __dead2 pb_power_off(void)
{
	pulse(SECURE_GPIO_POWEROFF);
}

static void __dead2 system_off(void)
{
	pb_faults_report();
	pb_power_off();
}

static void __dead2 system_reset(void)
{
	pb_faults_report();
	pulse(SECURE_GPIO_RESET);
}

/* Non-secure RAM begins here; below are flash, devices and secure memory. */
static int validate_ns_entrypoint(uintptr_t entry)
{
	return (entry >= NS_DRAM0_BASE) ? PSCI_E_SUCCESS
					: PSCI_E_INVALID_ADDRESS;
}

static const plat_psci_ops_t ops = {
	.cpu_standby = cpu_standby,
	.pwr_domain_on = pwr_domain_on,
	.pwr_domain_off = pwr_domain_off,
	.pwr_domain_suspend = pwr_domain_suspend,
	.PB_PWR_DOWN_HOOK = LAST_STEP,
#if PB_FAULTS && PSCI_OS_INIT_MODE
	.pwr_domain_validate_suspend = pb_fault_validate_suspend,
#endif
	.pwr_domain_on_finish = pwr_domain_on_finish,
	.pwr_domain_suspend_finish = pwr_domain_suspend_finish,
	.system_off = system_off,
	.system_reset = system_reset,
	.validate_power_state = pb_validate_power_state,
	.validate_ns_entrypoint = validate_ns_entrypoint,
	.get_sys_suspend_power_state = pb_system_suspend_state,
	.get_node_hw_state = pb_node_hw_state,
};

int plat_setup_psci_ops(uintptr_t entry, const plat_psci_ops_t **psci_ops)
{
	unsigned int pos;

	/*
	 * QEMU preserves memory across a reset, so a CPU_ON that was in
	 * progress may have left its word. No CPU has been released yet,
	 * because that also takes an interrupt.
	 */
	for (pos = 0U; pos < PB_CPUS; pos++) {
		mmio_write_64(PB_HOLD_ADDR + (pos << PB_HOLD_SHIFT),
			      PB_HOLD_WAIT);
	}
	pb_race_init();
	pb_channel_init();
	mmio_write_64(PB_ENTRY_ADDR, pb_faults_init(entry));
	pb_power_controller_init();

	*psci_ops = &ops;

	return 0;
}
