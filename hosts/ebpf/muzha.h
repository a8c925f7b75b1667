// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Muzha (Lien and Chung, III): the path's switches say how to change the window. No slow start: congestion
// avoidance by the index that the most loaded hop wrote, and Reno's fast retransmit. Where no hop speaks, Reno.
#ifndef WAYMARK_MUZHA_H
#define WAYMARK_MUZHA_H

#include "reno.h"

struct control {
	struct reno reno;
	__u32 mark;    // the round ends when this octet is acknowledged
	__u8 speaking; // the newest acknowledgement carried an index
};

static inline void control_start(struct control *control, __u32 window, __u32 next)
{
	reno_start(&control->reno, window);
	control->mark = next;
}

static inline void control_on_sent(struct control *control, __u32 now_us)
{
}

// Table 3.1: the window after a round under an index from 1 to 6.
static inline __u64 advised(__u8 index, __u64 cwnd)
{
	switch (index) {
	case 6:
		return cwnd * 3;
	case 5:
		return cwnd * 7 / 4;
	case 4:
		return cwnd + 2 * ONE;
	case 3:
		return cwnd + ONE;
	case 2:
		return cwnd > ONE ? cwnd - ONE : 0;
	default:
		return cwnd * 3 / 4;
	}
}

static inline void control_on_ack(struct control *control, const struct ack *ack)
{
	__u64 cwnd;

	if (!ack->mrai) {
		// What the hops allowed is no reason for a slow start.
		if (control->speaking)
			reno_end_slow_start(&control->reno);
		control->speaking = 0;
		reno_on_ack(&control->reno, ack);
		return;
	}
	control->speaking = 1;
	if (!is_after(ack->una, control->mark))
		return;
	control->mark = ack->next;
	cwnd = advised(ack->mrai, control->reno.cwnd);
	// No index takes the window below one segment.
	control->reno.cwnd = cap_window(cwnd < ONE ? ONE : cwnd, ack);
}

static inline void control_on_loss(struct control *control, const struct loss *loss)
{
	reno_on_loss(&control->reno, loss->window);
}

static inline void control_on_recovered(struct control *control)
{
}

static inline void control_on_timeout(struct control *control, __u32 window)
{
	reno_on_timeout(&control->reno, window);
}

static inline __u64 control_cwnd(const struct control *control)
{
	return control->reno.cwnd;
}

static inline __u64 control_ssthresh(const struct control *control)
{
	return control->reno.ssthresh;
}

#endif
