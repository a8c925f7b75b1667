// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The parts of the round-trip time (crates/congestion, waymark/delays.rs, where all hops write marks), in ticks.
#ifndef WAYMARK_DELAYS_H
#define WAYMARK_DELAYS_H

#include "fixed.h"

// Round trips for which the longest queueing time on the reverse path is remembered.
#define ROUNDS 8
// Round-trip times above 33 s count as this, so that the sum of all parts has 32 bits.
#define LONGEST_RTT_US (1U << 25)
#define NO_DELAY (~0U)

struct delays {
	__u32 round;      // the least propagation delay of this round trip, or NO_DELAY
	__u32 last_round; // of the last round trip
	__u32 least;      // of all
	__u32 forward;    // QT_f of the newest sample
	__u32 backward;   // QT_b of the newest acknowledgement
	__u32 longest[ROUNDS]; // the longest QT_b of each of the last round trips
};

static inline void start_delays(struct delays *delays)
{
	delays->round = NO_DELAY;
	delays->last_round = NO_DELAY;
	delays->least = NO_DELAY;
}

// R; NO_DELAY before the first sample.
static inline __u32 propagation_delay(const struct delays *delays)
{
	__u32 newest = lesser(delays->round, delays->last_round);

	return newest != NO_DELAY ? newest : delays->least;
}

static inline __u32 longest_backward(const struct delays *delays)
{
	__u32 longest = 0;

	for (int round = 0; round < ROUNDS; round++)
		longest = greater(longest, delays->longest[round]);
	return longest;
}

static inline __u32 less(__u32 time, __u32 part)
{
	return part < time ? time - part : 0;
}

// What an acknowledgement says. A saturated mark says nothing; nor does one that exceeds the RTT.
static inline void sample(struct delays *delays, const struct ack *ack)
{
	__u32 rtt = lesser(ack->rtt_us, LONGEST_RTT_US) * TICKS_PER_US;
	int has_forward = ack->marked && ack->aqt_echo_us < AQT_MAX_US;
	__u32 forward = ack->aqt_echo_us * TICKS_PER_US;
	__u32 there, value, propagation;

	if (ack->marked && ack->aqt_backward_us < AQT_MAX_US) {
		delays->backward = ack->aqt_backward_us * TICKS_PER_US;
		delays->longest[0] = greater(delays->longest[0], delays->backward);
	}
	if (!rtt) {
		// A long recovery brings no round-trip times, but marks.
		if (has_forward)
			delays->forward = forward;
		return;
	}
	there = less(rtt, delays->backward);
	// R = RTT - QT_f - QT_b (Chan 3.4)
	value = has_forward ? less(there, forward) : 0;
	if (value)
		delays->round = lesser(delays->round, value);
	else
		value = there;
	if (value)
		delays->least = lesser(delays->least, value);
	propagation = propagation_delay(delays);
	if (propagation != NO_DELAY)
		delays->forward = less(there, propagation);
}

static inline void next_round(struct delays *delays)
{
	if (delays->round != NO_DELAY)
		delays->last_round = delays->round;
	delays->round = NO_DELAY;
	for (int round = ROUNDS - 1; round > 0; round--)
		delays->longest[round] = delays->longest[round - 1];
	delays->longest[0] = 0;
}

#endif
