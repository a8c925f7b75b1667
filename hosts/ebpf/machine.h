// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Vegas' rounds and window, shared by Vegas and the variants that read marks (crates/congestion, vegas/machine.rs
// and rovegas.rs, without the papers' simulator's departures). Without AQT the delays are measured as Vegas does.
// A control that includes this defines control_on_ack and control_on_loss.
//
// The mean RTT of a round, and what is computed from it, is in ticks of 1/256 µs, rounded down.
#ifndef WAYMARK_MACHINE_H
#define WAYMARK_MACHINE_H

#include "event.h"

// No decrease takes the window below two segments.
#define MIN_WINDOW 2
#define ALPHA 1
#define BETA 3
#define GAMMA 1
#define TICKS 256ULL
#define NO_BASE (~0ULL)

struct control {
	__u64 cwnd;
	__u64 increment; // added to cwnd by every segment acknowledged
	__u64 base;      // BaseRTT in ticks, or NO_BASE
	__u64 rtt_sum_us; // of the round's samples
	__u32 rtt_count;
	__u32 ssthresh; // in segments
	__u32 deflated; // what a recovery deflates cwnd to, in segments
	__u32 mark;     // the round ends when this octet is acknowledged
	__u32 start_us; // when the round began
	__u32 newest_us;  // RTT less QT_b of the round's newest sample; 0: none
	__u32 derived_us; // the round's newest derived BaseRTT; 0: none
	__u8 growing;  // slow start grows in every other round; this one grows
	__u8 doubling; // increment is slow start's, and ends at the threshold
	__u8 begins;   // nothing is acknowledged: the round starts when the first segment leaves again
	__u8 acked;
};

// What a round showed, in ticks.
struct measured {
	__u64 base;
	__u64 rtt;
	__u64 actual; // segments that were delivered in `rtt`
};

static inline void control_start(struct control *control, __u32 window, __u32 next)
{
	control->cwnd = window * ONE;
	control->base = NO_BASE;
	control->ssthresh = NO_THRESHOLD;
	control->deflated = MIN_WINDOW;
	control->mark = next;
	control->growing = 1;
	control->begins = 1;
}

static inline void control_on_sent(struct control *control, __u32 now_us)
{
	if (control->begins)
		control->start_us = now_us;
	control->begins = 0;
}

// BaseRTT = RTT - (AQT + AQT-Echo) (3.4). A saturated mark, or one that exceeds the RTT, derives nothing: 0.
static inline __u32 derive_base(__u32 rtt_us, const struct ack *ack)
{
	__u32 queueing = ack->aqt_echo_us + ack->aqt_backward_us;

	if (!ack->marked || ack->aqt_echo_us >= AQT_MAX_US || ack->aqt_backward_us >= AQT_MAX_US)
		return 0;
	return queueing < rtt_us ? rtt_us - queueing : 0;
}

// The RTT less QT_b, where the mark says it and it can be part of the RTT.
static inline __u64 without_backward(__u64 rtt, __u64 unit, const struct ack *ack)
{
	__u64 backward = ack->aqt_backward_us * unit;

	return ack->marked && ack->aqt_backward_us < AQT_MAX_US && backward < rtt ? rtt - backward : rtt;
}

static inline void lower_base(struct control *control, __u32 rtt_us)
{
	if (rtt_us * TICKS < control->base)
		control->base = rtt_us * TICKS;
}

// One valid round-trip time of the running round.
static inline void add_sample(struct control *control, const struct ack *ack)
{
	__u32 derived_us = derive_base(ack->rtt_us, ack);

	control->rtt_sum_us += ack->rtt_us;
	control->rtt_count++;
	control->newest_us = ack->marked ? without_backward(ack->rtt_us, 1, ack) : 0;
	if (!ack->marked)
		lower_base(control, ack->rtt_us);
	else if (derived_us)
		control->derived_us = derived_us;
}

// The running round ends. The time since its start stands in for its RTT if it had no sample. 0: nothing was
// measured.
static inline int measure_round(struct control *control, __u32 sent, const struct ack *ack,
				struct measured *measured)
{
	__u32 elapsed_us = ack->now_us - control->start_us;
	__u64 rtt = control->rtt_count ? control->rtt_sum_us * TICKS / control->rtt_count : elapsed_us * TICKS;
	__u32 derived_us = control->derived_us, newest_us = control->newest_us;

	control->rtt_sum_us = 0;
	control->rtt_count = 0;
	control->derived_us = 0;
	control->newest_us = 0;
	if (!rtt)
		return 0;
	if (derived_us)
		control->base = derived_us * TICKS;
	else if (!ack->marked && (rtt < control->base || sent <= 1))
		// A round of a single segment cannot have queued behind its own kind.
		control->base = rtt;
	measured->base = control->base;
	// Actual' = CWND / (RTT - QT_b) (3.3), RTT the newest, where Vegas has what was sent over the mean.
	measured->rtt = newest_us ? newest_us * TICKS : without_backward(rtt, TICKS, ack);
	measured->actual = ack->marked ? ack->in_flight + ack->newly : sent;
	return 1;
}

// Whether (Expected - Actual) BaseRTT = window - actual BaseRTT / RTT (Chan 2.1) is `least` segments or more, to the
// nearest segment.
static inline int queued(const struct measured *measured, __u64 window, __u32 least)
{
	return 2 * window * measured->rtt >= 2 * measured->actual * measured->base + (2 * least - 1) * measured->rtt;
}

static inline __u64 cut(__u64 cwnd, __u64 by)
{
	return cwnd > MIN_WINDOW * ONE + by ? cwnd - by : MIN_WINDOW * ONE;
}

// Once a round: Chan (2.2) in avoidance, 2.2.1 in slow start.
static inline void step(struct control *control, const struct measured *measured, __u64 window)
{
	control->increment = 0;
	control->doubling = control->cwnd < control->ssthresh * ONE;
	if (control->doubling) {
		control->growing = !control->growing;
		if (!control->growing)
			return;
		if (!queued(measured, window, GAMMA + 1)) {
			control->increment = ONE;
			return;
		}
		control->ssthresh = MIN_WINDOW;
		control->cwnd = cut(control->cwnd, control->cwnd / 8);
	} else if (queued(measured, window, BETA + 1)) {
		control->cwnd = cut(control->cwnd, ONE);
	} else if (!queued(measured, window, ALPHA)) {
		control->increment = ONE * ONE / (control->cwnd > ONE ? control->cwnd : ONE);
	}
}

static inline void close_round(struct control *control, const struct ack *ack)
{
	__u32 sent = (ack->next - control->mark + ack->mss - 1) / ack->mss;
	struct measured measured;

	if (measure_round(control, sent, ack, &measured))
		step(control, &measured, ack->in_flight + ack->newly);
	else
		control->increment = 0;
	control->mark = ack->next;
	control->start_us = ack->now_us;
}

// The window may run `slack` segments ahead of what is in flight and still grow (Chan 2004, 3.4.2).
static inline void acknowledge(struct control *control, const struct ack *ack, __u32 slack)
{
	if (control->base == NO_BASE) {
		// The first acknowledgement gives the first base RTT.
		__u32 elapsed_us = ack->now_us - control->start_us;
		__u32 derived_us = derive_base(elapsed_us, ack);

		control->base = (derived_us ? derived_us : elapsed_us) * TICKS;
	}
	control->acked = 1;
	if (is_after(ack->una, control->mark))
		close_round(control, ack);
	if (control->doubling && control->cwnd >= control->ssthresh * ONE)
		// Slow start can reach the threshold within a round.
		control->increment = 0;
	// In flight as the first of the segments that it stands for was acknowledged.
	if (control->cwnd <= (ack->in_flight + ack->newly - 1 + slack) * ONE)
		control->cwnd += control->increment * ack->newly;
	control->cwnd = cap_window(control->cwnd, ack);
	if (ack->rtt_us)
		add_sample(control, ack);
}

// Vegas' own: the marks rest. The simulator compares cwnd with one more than is in flight, and allows 2.
static inline void acknowledge_plain(struct control *control, const struct ack *ack)
{
	struct ack plain = *ack;

	plain.marked = 0;
	acknowledge(control, &plain, 3);
}

// What is left of the window: three quarters, two segments at least.
static inline void cut_window(struct control *control, __u32 window)
{
	control->deflated = window <= 3 ? MIN_WINDOW : window - window / 4;
	control->cwnd = control->deflated * ONE;
	control->ssthresh = MIN_WINDOW;
}

// A loss that says nothing about the path's capacity: the window is not changed.
static inline void keep_window(struct control *control, __u32 window)
{
	control->deflated = window < MIN_WINDOW ? MIN_WINDOW : window;
}

static inline void control_on_recovered(struct control *control)
{
	if (control->cwnd > control->deflated * ONE) {
		control->cwnd = control->deflated * ONE;
		control->ssthresh = MIN_WINDOW;
	}
}

static inline void control_on_timeout(struct control *control, __u32 window)
{
	control->ssthresh = window / 2 < MIN_WINDOW ? MIN_WINDOW : window / 2;
	control->cwnd = MIN_WINDOW * ONE;
	control->deflated = MIN_WINDOW;
	control->begins = !control->acked;
}

static inline __u64 control_cwnd(const struct control *control)
{
	return control->cwnd;
}

static inline __u64 control_ssthresh(const struct control *control)
{
	return control->ssthresh * ONE;
}

#endif
