// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The backlog that a flow keeps in answer to the queue that stands (crates/congestion, waymark/queueing.rs).
#ifndef WAYMARK_QUEUEING_H
#define WAYMARK_QUEUEING_H

#include "fixed.h"

// T: round trips of the mean.
#define LAG 16
// beta: segments of its own that it would keep waiting at the bottleneck alone.
#define BACKLOG (ONE / 2)
// beta (1 + 1/G): where the flow aims at 0.
#define MOST_BACKLOG (BACKLOG * 289 / 225)
// A tick has as many binary places in the mean as a segment has.
#define TICK ONE

struct queueing {
	// The least queueing time on the way there of the last round trip, and of this one.
	__u32 last_least, least;
	__u64 mean;    // Q, the mean of what stands, in ticks with binary places
	__s64 seen_at; // valid if was_seen
	__u8 was_seen;
};

static inline void start_queueing(struct queueing *queueing)
{
	queueing->last_least = queueing->least = LOW_WORD;
}

// A round trip begins.
static inline void next_round_of_queueing(struct queueing *queueing)
{
	queueing->last_least = queueing->least;
	queueing->least = LOW_WORD;
}

// An acknowledgement at `now` reports a queueing time.
static inline void see_queueing(struct queueing *queueing, __u32 forward, __s64 now, __u32 propagation)
{
	__u32 span = lesser(LAG * (__u64)propagation, LOW_WORD);
	__u32 passed = span;
	__u64 value;

	queueing->least = lesser(queueing->least, forward);
	value = lesser(queueing->last_least, queueing->least) * TICK;
	if (queueing->was_seen)
		passed = now > queueing->seen_at ? lesser(now - queueing->seen_at, span) : 0;
	if (value > queueing->mean)
		queueing->mean += scale(value - queueing->mean, passed, span);
	else
		queueing->mean -= scale(queueing->mean - value, passed, span);
	queueing->seen_at = now;
	queueing->was_seen = 1;
}

// What a rate delivers in a time with binary places.
static inline __u64 within_mean(__u64 rate, __u64 time)
{
	return within(rate, time / TICK) + within(scale(rate, time % TICK, TICK), 1);
}

// The time with binary places in which a rate delivers a window of at most 128 segments.
static inline __u64 mean_of(__u64 window, __u64 rate)
{
	__u32 shift = 0;

	for (int bit = 0; bit < 32; bit++)
		if (rate >> shift > LOW_WORD)
			shift++;
	return scale(window * TICK, TICKS_PER_S, rate >> shift) >> shift;
}

// b = beta + G (beta - D Q) with G = (T - 1)^2 / (4 T), at least 0.
static inline __s64 aim(struct queueing *queueing, __u64 arrival_rate)
{
	__u64 others;

	queueing->mean = lesser(queueing->mean, mean_of(MOST_BACKLOG, arrival_rate));
	others = within_mean(arrival_rate, queueing->mean);
	if (others < BACKLOG)
		return BACKLOG + (LAG - 1) * (LAG - 1) * (BACKLOG - others) / (4 * LAG);
	return (__s64)BACKLOG - (__s64)((LAG - 1) * (LAG - 1) * (others - BACKLOG) / (4 * LAG));
}

#endif
