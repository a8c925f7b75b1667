// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// RedVegas (Chan 2004, 6.3): Vegas that tells random losses from congestion. A loss with no mark near it was random,
// and does not cut the window.
#ifndef WAYMARK_REDVEGAS_H
#define WAYMARK_REDVEGAS_H

#include "machine.h"

static inline void control_on_ack(struct control *control, const struct ack *ack)
{
	acknowledge_plain(control, ack);
}

// |lost - NCSEQ| <= beta, NCSEQ the newest acknowledged segment when CI-echo was last seen.
static inline int is_congestion(const struct loss *loss)
{
	__u32 ncseq = loss->ci_ack_seq - loss->mss;
	__u32 distance = is_after(loss->una, ncseq) ? loss->una - ncseq : ncseq - loss->una;

	return loss->ci_echoed && distance <= BETA * loss->mss;
}

static inline void control_on_loss(struct control *control, const struct loss *loss)
{
	if (is_congestion(loss))
		cut_window(control, loss->window);
	else
		keep_window(control, loss->window);
}

#endif
