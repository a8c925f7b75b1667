// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Fixed point for controls that compute rates: times, rates and windows.
//
// Times are in ticks of 1/32 µs. Rates are in segments per second and windows in segments, both with 28 binary
// places (ONE of event.h). A quotient rounds down, and none exceeds LARGEST.
#ifndef WAYMARK_FIXED_H
#define WAYMARK_FIXED_H

#include "event.h"

#define TICKS_PER_US 32
#define TICKS_PER_S (TICKS_PER_US * 1000000U)
#define LARGEST (1ULL << 58)

#define LOW_WORD 0xFFFFFFFFULL

static inline __u64 lesser(__u64 one, __u64 other)
{
	return one < other ? one : other;
}

static inline __u64 greater(__u64 one, __u64 other)
{
	return one > other ? one : other;
}

// A function that BPF's verifier checks once, for any arguments, instead of at each call.
#define CHECKED_ONCE __attribute__((noinline))

// value * by / per.
CHECKED_ONCE __u64 scale(__u64 value, __u32 by, __u32 per)
{
	__u64 low = (value & LOW_WORD) * by;
	__u64 high = (value >> 32) * by + (low >> 32);
	__u64 rest;

	if (!per || high / per >= LARGEST >> 32)
		return LARGEST;
	rest = high % per;
	return high / per << 32 | (rest << 32 | (low & LOW_WORD)) / per;
}

// A time between two events, as scale() takes it: 134 s at most.
static inline __u32 ticks(__s64 time)
{
	if (time < 1)
		return 1;
	return lesser(time, LOW_WORD);
}

// What a rate delivers in a time.
static inline __u64 within(__u64 rate, __u32 time)
{
	return scale(rate, time, TICKS_PER_S);
}

// The rate of a window in a time.
static inline __u64 over(__u64 window, __u32 time)
{
	return scale(window, TICKS_PER_S, time);
}

#endif
