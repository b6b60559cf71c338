/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Parses a fault specification:
 *
 *   NAME[,cpu=MPIDR][,skip=N][,count=N][,arg=N][,function=N]
 *
 * A specification that cannot be parsed ends the boot. If the firmware
 * continued without the fault, the test for that fault would pass.
 */

#include <common/debug.h>
#include <lib/utils_def.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <string.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

/* Reads that succeed before pmf-fails-later, if skip= is not given. */
#define FAILS_LATER_SKIP	64U
/* The greatest number of a function within PSCI. */
#define FUNCTION_MAX		0x1fU

enum takes { NO_ARG, ARG, NEEDS_ARG };

static const struct word {
	const char *text;
	enum pb_fault fault;
	enum pb_call call;
	enum takes takes;
	uint64_t arg;
	uint64_t most;
} words[] = {
/* The values of arg= take three columns. */
#define FAULT_WORD(name, word, call, ...)				\
	{ word, PB_##name, PB_CALL_##call, __VA_ARGS__ },
	PB_FAULT_LIST(FAULT_WORD)
#undef FAULT_WORD
};

enum key { KEY_CPU, KEY_SKIP, KEY_COUNT, KEY_ARG, KEY_FUNCTION, KEYS };

static const char *const keys[KEYS] = {
	"cpu=", "skip=", "count=", "arg=", "function="
};

void __dead2 pb_fault_refuse(const char *word, const char *why)
{
	ERROR("psci-bench fault: '%s': %s\n", word, why);
	pb_power_off();
}

/*
 * Returns the word at `at`, terminated by NUL. `at` moves past it, or becomes
 * NULL.
 */
static char *next_word(char **at)
{
	char *word = *at;
	char *end = word;

	while ((*end != ',') && (*end != '\0')) {
		end++;
	}
	*at = (*end == ',') ? (end + 1) : NULL;
	*end = '\0';

	return word;
}

static bool is_hexadecimal(const char *text)
{
	return (text[0] == '0') && ((text[1] == 'x') || (text[1] == 'X'));
}

/* Parses `text`, which must be a single number; otherwise rejects `word`. */
static uint64_t number(const char *text, uint64_t base, const char *word)
{
	uint64_t value = 0U;

	if (is_hexadecimal(text)) {
		base = 16U;
		text += 2;
	}
	if (*text == '\0') {
		pb_fault_refuse(word, "a number is missing");
	}

	for (; *text != '\0'; text++) {
		uint64_t digit = base;

		if ((*text >= '0') && (*text <= '9')) {
			digit = (uint64_t)(*text - '0');
		} else if ((*text >= 'a') && (*text <= 'f')) {
			digit = (uint64_t)(*text - 'a') + 10U;
		} else if ((*text >= 'A') && (*text <= 'F')) {
			digit = (uint64_t)(*text - 'A') + 10U;
		}
		if (digit >= base) {
			pb_fault_refuse(word, "not a number");
		}
		if (value > ((UINT64_MAX - digit) / base)) {
			pb_fault_refuse(word, "too large");
		}
		value = (value * base) + digit;
	}

	return value;
}

static const struct word *look_up(const char *text)
{
	unsigned int i;

	for (i = 0U; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i].text) == 0) {
			return &words[i];
		}
	}
	pb_fault_refuse(text, "no such fault");
}

static enum key which_key(const char *text)
{
	unsigned int i;

	for (i = 0U; i < ARRAY_SIZE(keys); i++) {
		if (strncmp(text, keys[i], strlen(keys[i])) == 0) {
			return (enum key)i;
		}
	}
	pb_fault_refuse(text, "use cpu=, skip=, count=, arg=, function=");
}

void pb_fault_parse(char *text, struct pb_fault_spec *spec)
{
	char *at = text;
	const struct word *word = look_up(next_word(&at));
	bool given[KEYS] = { false };

	spec->fault = word->fault;
	spec->call = word->call;
	spec->word = word->text;
	spec->one_cpu = false;
	spec->skip = (word->fault == PB_PMF_FAILS_LATER) ? FAILS_LATER_SKIP
							 : 0U;
	spec->count = UINT64_MAX;
	spec->arg = word->arg;
	spec->function = 0U;

	while (at != NULL) {
		const char *option = next_word(&at);
		enum key key = which_key(option);
		const char *value = option + strlen(keys[key]);

		if (given[key]) {
			pb_fault_refuse(option, "given twice");
		}
		given[key] = true;

		switch (key) {
		case KEY_CPU: {
			u_register_t mpidr = number(value, 16U, option);
			int pos = plat_core_pos_by_mpidr(mpidr);

			if (pos < 0) {
				pb_fault_refuse(option, "no such CPU");
			}
			spec->one_cpu = true;
			spec->cpu = (unsigned int)pos;
			break;
		}
		case KEY_SKIP:
			spec->skip = number(value, 10U, option);
			break;
		case KEY_COUNT:
			spec->count = number(value, 10U, option);
			if (spec->count == 0U) {
				pb_fault_refuse(option, "it would never strike");
			}
			break;
		case KEY_FUNCTION:
			if (word->fault != PB_STALL) {
				pb_fault_refuse(option, "the fault takes none");
			}
			spec->function = number(value, 10U, option);
			if (spec->function > FUNCTION_MAX) {
				pb_fault_refuse(option, "too large");
			}
			break;
		default:
			if (word->takes == NO_ARG) {
				pb_fault_refuse(option, "the fault takes none");
			}
			spec->arg = number(value, 10U, option);
			if (spec->arg > word->most) {
				pb_fault_refuse(option, "too large");
			}
			break;
		}
	}

	if ((word->fault == PB_STALL) && !given[KEY_FUNCTION]) {
		pb_fault_refuse(word->text, "function= is missing");
	}
	if ((word->takes == NEEDS_ARG) && !given[KEY_ARG]) {
		pb_fault_refuse(word->text, "arg= is missing");
	}
}
