// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Flows that fill the queue until it overflows (crates/congestion, waymark/rivals.rs): they show by a queue that is
// full (CI) again, although the flow kept its backlog. Against them the flow has the window that CUBIC would have
// (RFC 9438), which changes only when the queue has been full.
#ifndef WAYMARK_RIVALS_H
#define WAYMARK_RIVALS_H

#include "fixed.h"

// Round trips within which a queue that is full again shows rivals.
#define SUSPICION 256
// After how many times the longest time between two full queues the rivals have gone.
#define GONE 2
// Round trips after which a recovery lasts, and what the queue refuses in it is news.
#define LASTING 8

struct rivals {
	__s64 full_at;    // when the queue was full; valid if was_full
	__s64 same_until; // until when acknowledgements report the same full queue
	__s64 refused_at; // when the newest recovery from a full queue began
	// While rivals compete:
	__u64 kept;    // the window
	__s64 cut_at;  // when a loss cut CUBIC's window
	__u64 before;  // CUBIC's window before that
	__u64 after;   // CUBIC's window after that
	__s64 longest; // the longest time from one full queue to the next
	__s64 until;   // without a full queue until then, the rivals have gone
	__u8 was_full;
	__u8 present;
};

// C t^3 (RFC 9438, 4.2), C = 0.4 segments per s^3.
static inline __u64 cubic(__u32 time)
{
	return within(within(within(2 * ONE, time), time), time) / 5;
}

// One bit of rise_time().
CHECKED_ONCE __u32 with_bit(__u32 time, __u32 bit, __u64 rise)
{
	return cubic(time | bit) < rise ? time | bit : time;
}

// The time in which the curve rises that far, in whole ticks: the last one before K (4.2).
static inline __u32 rise_time(__u64 rise)
{
	__u32 time = 0;

	for (__u32 bit = 1U << 31; bit; bit >>= 1)
		time = with_bit(time, bit, rise);
	return time;
}

// What Reno's window grows by on average (4.3): alpha = 3 (1 - 0.7) / (1 + 0.7) = 9/17 segments per round trip.
static inline __u64 friendly(__s64 time, __u32 round_trip)
{
	return scale(9 * ONE, ticks(time), round_trip) / 17;
}

// CUBIC's window now (4.2, 4.3).
static inline __u64 grown(const struct rivals *rivals, __s64 now, __u32 round_trip)
{
	__u64 rise = rivals->before > rivals->after ? rivals->before - rivals->after : 0;
	__u32 flat_at = rise_time(rise);
	__s64 time = now - rivals->cut_at;
	__s64 from_flat = time - flat_at;
	__u32 far = ticks(from_flat < 0 ? -from_flat : from_flat);
	// C (t - K)^3 changes by 3 C (t - K)^2 dK, and K by (rise - C K^3) / (3 C K^2).
	__u64 rest = rise - lesser(rise, cubic(flat_at));
	__u64 late = flat_at ? scale(scale(rest, far, flat_at), far, flat_at) : 0;
	__u64 curve = cubic(far);

	if (from_flat < 0)
		curve = rivals->before - lesser(curve + late, rivals->before);
	else
		curve = rivals->before + curve - lesser(curve, late);
	return greater(curve, rivals->after + friendly(time, round_trip));
}

// The queue is full again, `time` after it was last.
static inline void see_full(struct rivals *rivals, __u64 in_flight, int waits, __s64 now, __s64 time, __u32 round_trip)
{
	if (rivals->present) {
		rivals->kept = greater(rivals->kept, grown(rivals, now, round_trip));
		if (time > rivals->longest)
			rivals->longest = time;
	} else if (waits && time < SUSPICION * (__s64)round_trip) {
		rivals->present = 1;
		rivals->kept = in_flight * ONE + friendly(time, round_trip);
		rivals->cut_at = now;
		rivals->before = rivals->kept;
		rivals->after = rivals->kept;
		rivals->longest = time;
	} else {
		return;
	}
	rivals->until = now + GONE * rivals->longest;
}

// An acknowledgement arrives at `now`. `waits`: more of the flow waits than its backlog.
static inline void rivals_on_ack(struct rivals *rivals, const struct ack *ack, int waits, __s64 now, __u32 round_trip)
{
	if (rivals->present && now > rivals->until)
		rivals->present = 0;
	if (!ack->ci_echo)
		return;
	if (now > rivals->same_until) {
		if (rivals->was_full)
			see_full(rivals, ack->in_flight, waits, now, now - rivals->full_at, round_trip);
		rivals->full_at = now;
		rivals->was_full = 1;
	}
	rivals->same_until = now + round_trip;
}

static inline void rivals_cut(struct rivals *rivals, __s64 now)
{
	if (!rivals->present)
		return;
	rivals->before = rivals->kept;
	rivals->after = greater(scale(rivals->kept, 7, 10), ONE);
	rivals->cut_at = now;
	// The mean of the curve until it is flat.
	rivals->kept = (3 * rivals->before + rivals->after) / 4;
}

// The full queue refused segments of this flow, and a recovery begins.
static inline void rivals_on_refusal(struct rivals *rivals, __s64 now)
{
	rivals->refused_at = now;
	rivals_cut(rivals, now);
}

// The full queue refused segments of this flow, also if a recovery began before.
static inline void rivals_on_refusal_again(struct rivals *rivals, __s64 now, __u32 round_trip)
{
	if (now > rivals->refused_at + LASTING * (__s64)round_trip && now > rivals->cut_at + round_trip)
		rivals_cut(rivals, now);
}

#endif
