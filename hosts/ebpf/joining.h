// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The rate at which a flow joins others (crates/congestion, waymark/joining.rs).
#ifndef WAYMARK_JOINING_H
#define WAYMARK_JOINING_H

#include "fixed.h"
#include "queueing.h"

// Round trips with the minimum rate.
#define JOINING_ROUND_TRIPS 4
// The maximum of the minimum rate, as a multiple of the initial rate.
#define MOST_JOINING 2

struct joining {
	__u64 rate;       // the minimum rate; 0 if there is none
	__u8 round_trips; // that it is still valid
};

// The first acknowledged segment was queued for this time; the initial rate.
static inline void join(struct joining *joining, __u32 queueing, __u64 initial)
{
	if (!queueing)
		return;
	joining->rate = lesser(over(BACKLOG, queueing), MOST_JOINING * initial);
	joining->round_trips = JOINING_ROUND_TRIPS;
}

static inline void next_round_of_joining(struct joining *joining)
{
	if (joining->round_trips && !--joining->round_trips)
		joining->rate = 0;
}

#endif
