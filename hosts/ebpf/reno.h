// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Reno (RFC 5681): slow start, additive increase by 1/cwnd for each segment acknowledged, halving.
#ifndef WAYMARK_RENO_H
#define WAYMARK_RENO_H

#include "event.h"

// No threshold lies below two segments (RFC 5681, equation 4).
#define MIN_SSTHRESH 2

struct reno {
	__u64 cwnd;
	__u64 ssthresh; // as cwnd
};

static inline void reno_start(struct reno *reno, __u32 window)
{
	reno->cwnd = window * ONE;
	reno->ssthresh = NO_THRESHOLD * ONE;
}

// A window that is not made use of says nothing of the path (RFC 9293, 3.8.6).
static inline void reno_on_ack(struct reno *reno, const struct ack *ack)
{
	__u64 increment = reno->cwnd < reno->ssthresh ? ONE : ONE * ONE / reno->cwnd;

	if (!ack->window_unused)
		reno->cwnd = cap_window(reno->cwnd + increment * ack->newly, ack);
}

static inline __u64 reno_half(__u32 window)
{
	__u32 half = window / 2;

	return (half < MIN_SSTHRESH ? MIN_SSTHRESH : half) * ONE;
}

// The window takes the half as it is, even 1 or 0; only the threshold has a floor.
static inline void reno_on_loss(struct reno *reno, __u32 window)
{
	reno->ssthresh = reno_half(window);
	reno->cwnd = window / 2 * ONE;
}

static inline void reno_on_timeout(struct reno *reno, __u32 window)
{
	reno->ssthresh = reno_half(window);
	reno->cwnd = ONE;
}

// Growth goes on by 1/cwnd for each segment acknowledged.
static inline void reno_end_slow_start(struct reno *reno)
{
	__u64 window = reno->cwnd < MIN_SSTHRESH * ONE ? MIN_SSTHRESH * ONE : reno->cwnd;

	if (reno->ssthresh > window)
		reno->ssthresh = window;
}

#endif
