// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Vegas (Brakmo and Peterson 1995; Chan 2004, 2.2): keeps alpha to beta segments of its own in the queues.
#ifndef WAYMARK_VEGAS_H
#define WAYMARK_VEGAS_H

#include "machine.h"

static inline void control_on_ack(struct control *control, const struct ack *ack)
{
	acknowledge_plain(control, ack);
}

static inline void control_on_loss(struct control *control, const struct loss *loss)
{
	cut_window(control, loss->window);
}

#endif
