// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The rates at which segments were meant to leave, and did (crates/congestion, waymark/departures.rs).
#ifndef WAYMARK_DEPARTURES_H
#define WAYMARK_DEPARTURES_H

#include "history.h"

struct departures {
	struct history paces;  // the pacing rate over time
	struct history counts; // segments that left, over time
	__u64 sent; // segments that left so far
};

// The pacing rate at a time.
static inline __u64 pace_at(const struct departures *departures, __s64 time)
{
	struct point then;

	return newest(&departures->paces, time, ANY_VALUE, &then) ? then.value : 0;
}

// The rate at which segments left in the `span` around a time, or in more than that if memories are rarer: the pacing
// rate, or less where the application or the receiver's window held the sender back.
static inline __u64 rate_at(const struct departures *departures, __s64 time, __u32 span)
{
	__u64 pace = pace_at(departures, time);
	struct point before, after;

	if (!newest(&departures->counts, time - span / 2, ANY_VALUE, &before))
		return pace;
	if ((!newest(&departures->counts, time + span / 2, ANY_VALUE, &after) || after.time <= before.time) &&
	    !following(&departures->counts, time - span / 2, &after))
		return pace;
	// One more: the next segment may have been about to leave.
	return lesser(pace, over((after.value - before.value + 1) * ONE, ticks(after.time - before.time)));
}

// Whether something else than the pacing rate held the sender back in the `span` around a time: less than three
// quarters of that rate left.
static inline int fell_behind(const struct departures *departures, __s64 time, __u32 span)
{
	return 4 * rate_at(departures, time, span) < 3 * pace_at(departures, time);
}

#endif
