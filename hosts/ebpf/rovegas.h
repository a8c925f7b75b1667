// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// RoVegas (Chan 2004, ch. 3): Vegas that reads from its packets how long they queued.
#ifndef WAYMARK_ROVEGAS_H
#define WAYMARK_ROVEGAS_H

#include "machine.h"

#define SLACK 2

static inline void control_on_ack(struct control *control, const struct ack *ack)
{
	acknowledge(control, ack, SLACK);
}

static inline void control_on_loss(struct control *control, const struct loss *loss)
{
	cut_window(control, loss->window);
}

#endif
