// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "vegas.h"

#define NAME "vegas"
#include "control.h"

SEC(".struct_ops.link")
struct tcp_congestion_ops vegas = CONTROL;
