// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Waymark: all three marks in one transport (crates/congestion, waymark.rs, which derives the law). The pacing rate is
// D + (b - B)/R, with D the rate at which segments arrive at the receiver, R the propagation delay, B what waits of this
// flow, and b what is to wait of it; DRAI lets it grow faster, CI says whether a loss means congestion. All hops write
// marks.
//
// Rounding: each quotient rounds down by less than 2^-28. The window differs from that of exact arithmetic by less than
// 2^-20 of itself, and the rate by less than 2^-20 of itself or of what is in flight per propagation delay, of which it
// is a difference. That holds for rates up to 2^30 segments per second and round-trip times up to 33 s.
#ifndef WAYMARK_WAYMARK_H
#define WAYMARK_WAYMARK_H

#include "delays.h"
#include "departures.h"
#include "joining.h"
#include "queueing.h"
#include "rivals.h"

#define PACES

// Segments without which a rate of arrival is none.
#define FEW 8
// The rate of arrival has fallen if so many segments are missing in the newest half of a round trip, or a half of that,
// down to a sixteenth.
#define MISSING 4
#define LEAST_PART 16
// How old the oldest octet is that a reading of DRAI counts: two windows of 2^15 us.
#define READING (2 * 32768 * TICKS_PER_US)
// More than this times the backlog is more than any rate lets wait.
#define MOST_SPEED (1U << 24)

struct control {
	__u64 cwnd;
	__u64 rate; // valid if has_rate
	__u64 arrival_rate; // D; valid if has_arrival_rate
	__u64 arrived; // segments that have left the queues, at the receiver or lost behind them
	__s64 full_until; // until when losses are the full queue's
	__u64 initial_window; // as cwnd
	__s64 target; // b
	struct delays delays;
	struct queueing queueing;
	struct rivals rivals;
	struct joining joining;
	struct departures departures;
	struct history arrivals; // `arrived` over time at the receiver (and a constant)
	__u32 round_end; // the octet whose acknowledgement ends the round trip
	__u32 speed; // by what beta is multiplied while there is no queue
	__u8 room; // the newest index; 0: no hop has spoken
	__u8 idle; // there was no queue in this round trip
	__u8 has_rate;
	__u8 has_arrival_rate;
};

static inline void control_start(struct control *control, __u32 window, __u32 next)
{
	control->initial_window = window * ONE;
	control->cwnd = control->initial_window;
	control->round_end = next;
	control->speed = 1;
	control->idle = 1;
	start_delays(&control->delays);
	start_queueing(&control->queueing);
}

static inline void control_on_sent(struct control *control, __u32 now_us)
{
}

// Segments that arrived in a time. A time of 0: there is none.
struct arrivals {
	__u64 segments;
	__u32 time;
};

// Those in the newest time of at least `span` with at least `few` segments.
static inline struct arrivals arrivals_in(const struct control *control, __s64 time, __s64 span, __u64 few)
{
	struct point then;
	struct arrivals arrivals = {};

	if (control->arrived < few)
		return arrivals;
	if (!newest(&control->arrivals, time - span, control->arrived - few, &then) ||
	    then.value > control->arrived - few || then.time >= time)
		return arrivals;
	arrivals.segments = control->arrived - then.value;
	arrivals.time = ticks(time - then.time);
	return arrivals;
}

// The rate of arrival, D.
static inline void measure(struct control *control, const struct ack *ack, __s64 now, __u32 propagation)
{
	__s64 time = now - control->delays.backward;
	__u32 span = propagation + control->delays.forward;
	struct arrivals whole, part;

	control->arrived += ack->newly;
	if (now > control->full_until)
		control->arrived += ack->lost;
	whole = arrivals_in(control, time, span, FEW);
	if (whole.time) {
		__u64 rate = over(whole.segments * ONE, whole.time);

		control->has_arrival_rate = 1;
		control->arrival_rate = rate;
		for (int parts = 2; parts <= LEAST_PART; parts *= 2) {
			part = arrivals_in(control, time, span / parts, 0);
			if (part.time && within(rate, part.time) > (part.segments + MISSING) * ONE)
				control->arrival_rate = lesser(control->arrival_rate, over(part.segments * ONE, part.time));
		}
	}
	keep(&control->arrivals, time, control->arrived, span / 32);
}

// The rate `passing`, plus a correction of the backlog from `waiting` to `goal` in a round trip of at most `most`.
static inline __u64 towards(__u64 passing, __s64 waiting, __s64 goal, __u32 propagation, __u64 most)
{
	if (goal < waiting) {
		__u64 step = over(waiting - goal, propagation);

		return step < passing ? passing - step : 0;
	}
	return passing + lesser(over(goal - waiting, propagation), most);
}

// The delivery rate, plus a correction of the backlog towards b, which is at least beta times a `speed` above 1, or
// towards the window in competition with rivals. A `speed` above 1 means that there was no queue for a round trip. The
// larger of both is then used.
static inline __u64 corrected(const struct control *control, const struct ack *ack, __u64 passing, __u32 speed,
			      __u32 propagation)
{
	const struct rivals *rivals = &control->rivals;
	__s64 waiting = ack->in_flight * ONE - within(passing, propagation + control->delays.backward);
	__s64 goal = control->target;
	// Of a target below beta, the step upwards is bounded as that of beta.
	__u64 bound = goal < (__s64)BACKLOG ? BACKLOG : (__u64)goal;
	__u64 fastest = greater(over(bound, propagation), control->arrival_rate / 7);
	__u64 rate = 0;

	if (rivals->present)
		rate = towards(passing, waiting, rivals->kept - within(passing, propagation), propagation, LARGEST);
	if (speed > 1 && goal < (__s64)(speed * BACKLOG))
		goal = speed * BACKLOG;
	if (!rivals->present || speed > 1)
		rate = greater(rate, towards(passing, waiting, goal, propagation, fastest));
	// The minimum part of the arrival rate at which a queue is drained.
	return greater(rate, control->arrival_rate / 2);
}

// By what the rate of all flows of a link may grow at an index of 4 to 6 (waymark/drai.py).
static inline __u64 grow(__u8 index, __u64 rate)
{
	switch (index) {
	case 6:
		return 3 * rate;
	case 5:
		return scale(rate, 7, 4);
	default:
		return scale(rate, 8, 7);
	}
}

// The rate at which was sent what a reading of DRAI counted that was taken at a time: the least in either window that
// it may be of.
static inline __u64 counted(const struct departures *departures, __s64 time)
{
	__u64 least = pace_at(departures, time - READING);

	least = lesser(least, rate_at(departures, time - READING / 4, READING / 2));
	return lesser(least, rate_at(departures, time - 3 * READING / 4, READING / 2));
}

static inline __u64 next_rate(struct control *control, const struct ack *ack, __s64 now, __u32 propagation,
			      __u32 round_trip)
{
	const struct departures *departures = &control->departures;
	__u64 arrival_rate = control->arrival_rate;
	int is_idle = within(arrival_rate, control->delays.forward) <= BACKLOG;
	__s64 left = now - round_trip;
	__u64 probing;

	see_queueing(&control->queueing, control->delays.forward, now, propagation);
	control->target = aim(&control->queueing, arrival_rate);
	control->idle &= is_idle;
	rivals_on_ack(&control->rivals, ack, !is_idle, now, round_trip);
	if (ack->lost && now <= control->full_until)
		rivals_on_refusal_again(&control->rivals, now, round_trip);
	if (!is_idle)
		return corrected(control, ack, arrival_rate, 1, propagation);
	if (ack->app_limited || fell_behind(departures, left, round_trip))
		return control->rate;
	probing = corrected(control, ack, greater(arrival_rate, rate_at(departures, left, round_trip)), control->speed,
			    propagation);
	if (control->room < 4)
		return probing;
	return greater(probing, greater(control->rate, grow(control->room, counted(departures, left))));
}

// The rate and the window.
static inline void pace(struct control *control, const struct ack *ack, __s64 now, __u32 propagation)
{
	__u32 until_queued = propagation + control->delays.forward;
	__u32 round_trip = until_queued + control->delays.backward;
	__u32 longest = until_queued + longest_backward(&control->delays);

	if (!control->has_rate) {
		control->has_rate = 1;
		control->rate = over(control->initial_window, propagation);
		if (control->room < 4)
			join(&control->joining, control->delays.forward, control->rate);
	}
	if (control->room >= 4 || now <= control->full_until || control->rivals.present)
		control->joining.rate = 0;
	if (control->has_arrival_rate)
		control->rate = next_rate(control, ack, now, propagation, round_trip);
	control->rate = greater(greater(control->rate, control->joining.rate), over(ONE, round_trip));
	keep(&control->departures.paces, now, control->rate, (round_trip + READING) / 32);
	if (control->has_arrival_rate)
		control->cwnd = within(2 * greater(control->rate, control->arrival_rate), longest) + FEW * ONE;
	else if (within(control->rate, control->delays.forward) <= BACKLOG)
		control->cwnd = within(2 * control->rate, longest) + FEW * ONE;
	else
		// Behind a queue, what arrives says how much may leave.
		control->cwnd = control->initial_window;
	control->cwnd = cap_window(control->cwnd, ack);
}

static inline void control_on_ack(struct control *control, const struct ack *ack)
{
	__s64 now = ack->now_us * TICKS_PER_US;
	__u32 propagation;

	sample(&control->delays, ack);
	control->departures.sent += ack->sent;
	keep(&control->departures.counts, now, control->departures.sent, READING / 8);
	if (is_after(ack->una, control->round_end)) {
		control->round_end = ack->next;
		next_round(&control->delays);
		next_round_of_joining(&control->joining);
		next_round_of_queueing(&control->queueing);
		control->speed = control->idle ? lesser(2 * control->speed, MOST_SPEED) : 1;
		control->idle = 1;
	}
	if (ack->mrai)
		control->room = ack->mrai;
	propagation = propagation_delay(&control->delays);
	if (propagation == NO_DELAY) {
		control->cwnd = cap_window(control->cwnd + ack->newly * ONE, ack);
		return;
	}
	if (ack->ci_echo)
		control->full_until = now + 2 * (__s64)propagation;
	measure(control, ack, now, propagation);
	pace(control, ack, now, propagation);
}

// The queueing time has said it all; the loss is only judged.
static inline void control_on_loss(struct control *control, const struct loss *loss)
{
	__s64 now = loss->now_us * TICKS_PER_US;

	if (now <= control->full_until)
		rivals_on_refusal(&control->rivals, now);
}

static inline void control_on_recovered(struct control *control)
{
}

// What was measured is old; the next acknowledgements measure again.
static inline void control_on_timeout(struct control *control, __u32 window)
{
	forget(&control->arrivals);
	control->has_arrival_rate = 0;
	control->arrival_rate = 0;
	control->rate /= 2;
}

static inline __u64 control_cwnd(const struct control *control)
{
	return control->cwnd;
}

// There is no threshold; the least that one may be.
static inline __u64 control_ssthresh(const struct control *control)
{
	return 2 * ONE;
}

// 0: as Linux has it, before the first round-trip time.
static inline __u64 control_rate(const struct control *control)
{
	return control->has_rate ? control->rate : 0;
}

#endif
