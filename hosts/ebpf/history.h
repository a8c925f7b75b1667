// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// What a value was a while ago, in constant space (crates/congestion, history.rs).
#ifndef WAYMARK_HISTORY_H
#define WAYMARK_HISTORY_H

#include "fixed.h"

#define POINTS 64 // a power of two
#define ANY_VALUE (~0ULL)

// A value, and since when, in ticks.
struct point {
	__s64 time;
	__u64 value;
};

// Values of the recent past, no closer to each other than asked for. Times never decrease.
struct history {
	struct point points[POINTS];
	__u32 len;  // points in use
	__u32 next; // where the next one goes
};

// The place of the point that came `back` points before the newest.
static inline __u32 place(const struct history *history, __u32 back)
{
	return (history->next + POINTS - 1 - back) % POINTS;
}

static inline void forget(struct history *history)
{
	history->len = 0;
}

// The value from `time` on. It is not kept if the newest kept point is less than `apart` before it.
static inline void keep(struct history *history, __s64 time, __u64 value, __s64 apart)
{
	struct point *point;

	if (history->len && time < history->points[place(history, 0)].time + apart)
		return;
	point = &history->points[history->next % POINTS];
	point->time = time;
	point->value = value;
	history->next = (history->next + 1) % POINTS;
	if (history->len < POINTS)
		history->len++;
}

// The place of the newest point with no later time and no greater value; else of the oldest one. -1: there is
// none. Values that are compared never decrease, so that halving finds it.
CHECKED_ONCE int find(const struct history *history, __s64 time, __u64 value)
{
	__u32 low = 0, high, middle;

	if (!history || !history->len)
		return -1;
	high = history->len - 1;
	for (int step = 1; step < POINTS; step *= 2) {
		const struct point *point;

		if (low >= high)
			break;
		middle = (low + high) / 2;
		point = &history->points[place(history, middle)];
		if (point->time <= time && point->value <= value)
			high = middle;
		else
			low = middle + 1;
	}
	return place(history, high);
}

// As find(), the point itself. 0: there is none.
static inline int newest(const struct history *history, __s64 time, __u64 value, struct point *point)
{
	int found = find(history, time, value);

	if (found < 0)
		return 0;
	*point = history->points[(__u32)found % POINTS];
	return 1;
}

// The oldest point after the one that newest() gives for any value. 0: there is none.
static inline int following(const struct history *history, __s64 time, struct point *point)
{
	int found = find(history, time, ANY_VALUE);

	if (found < 0 || (__u32)found == place(history, 0))
		return 0;
	*point = history->points[((__u32)found + 1) % POINTS];
	return 1;
}

#endif
