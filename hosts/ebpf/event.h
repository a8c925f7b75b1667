// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The events that a control receives, as in crates/congestion, event.rs. The controls are plain C without the
// kernel's types, so that a test can run them on any machine.
//
// Each control has a header NAME.h with a `struct control`, which starts as zeros, and these functions:
//
//   control_start         the connection begins, with this window; `next` is its first octet of data
//   control_on_sent       a segment leaves while no other is in flight
//   control_on_ack        new data was acknowledged, and no recovery is going on; for a control that paces, any
//                         acknowledgement
//   control_on_loss       a loss was found without the timer; `window` segments were the window
//   control_on_recovered  the recovery that the loss began is over
//   control_on_timeout    the retransmission timer ran out
//   control_cwnd          the window
//   control_ssthresh      the slow-start threshold
//   control_rate          the pacing rate in segments per second, of a control that paces (PACES)
//
// Windows and thresholds are in segments with 28 binary places, times are whole microseconds. Every operation rounds
// down, so that a window is below that of exact arithmetic by less than 2^-28 of itself for each segment acknowledged.
// fixed.h says how a control that paces rounds.
#ifndef WAYMARK_EVENT_H
#define WAYMARK_EVENT_H

#include <linux/types.h>

#include "feedback.h"

#define ONE (1ULL << 28)
#define WHOLE(window) ((__u32)((window) / ONE))
#define NO_THRESHOLD 0x7FFFFFFF

// An acknowledgement. The last four are for controls that pace.
struct ack {
	__u64 now_us;
	__u32 una;       // the first octet that is not acknowledged
	__u32 next;      // the next octet to send
	__u32 mss;       // octets of a segment
	__u32 newly;     // segments that it newly says have arrived, 1 at least if it acknowledges new data
	__u32 in_flight; // segments sent and not acknowledged, this acknowledgement applied; for a control that
			 // paces, neither selectively acknowledged nor lost
	__u32 most;      // the largest window allowed, in segments
	__u32 rtt_us;    // of the newest segment covered; 0: there is no sample
	__u32 aqt_echo_us;     // forward queueing time; valid if marked
	__u32 aqt_backward_us; // backward queueing time; valid if marked
	__u8 marked;        // it carries AQT and AQT-Echo
	__u8 mrai;          // MRAI-Echo, 1 to 6; 0: no hop has spoken
	__u8 window_unused; // the window was not full, so that its size is not tried
	__u8 ci_echo;     // CI was echoed since the last acknowledgement
	__u8 app_limited; // the application held the sender back when the newest segment covered was sent
	__u32 sent; // segments that left since the last acknowledgement, for the first time or again
	__u32 lost; // segments found lost since the last acknowledgement
};

// The first loss of a recovery.
struct loss {
	__u64 now_us;
	__u32 una; // the lost segment's first octet
	__u32 mss;
	__u32 window;     // in segments
	__u32 ci_ack_seq; // of the newest acknowledgement that echoed CI; valid if ci_echoed
	__u8 ci_echoed;
};

// Octets may wrap.
static inline int is_after(__u32 octet, __u32 other)
{
	return (__s32)(octet - other) > 0;
}

// What the marks say about this acknowledgement. Feedback of an earlier packet says nothing. That of a later one,
// which waits for a busy socket, has the path's index; its queueing times do not belong to this RTT, and are as
// little known as saturated ones.
static inline void apply_feedback(struct ack *ack, const struct feedback *feedback)
{
	int later = is_after(feedback->ack_seq, ack->una);

	if (is_after(ack->una, feedback->ack_seq))
		return;
	ack->marked = !!(feedback->carried & MARK_AQT);
	ack->aqt_echo_us = later ? AQT_MAX_US : feedback->aqt_echo_us;
	ack->aqt_backward_us = later ? AQT_MAX_US : feedback->aqt_backward_us;
	ack->mrai = feedback->carried & MARK_DRAI ? feedback->mrai : 0;
}

static inline __u64 cap_window(__u64 window, const struct ack *ack)
{
	return WHOLE(window) > ack->most ? ack->most * ONE : window;
}

#endif
