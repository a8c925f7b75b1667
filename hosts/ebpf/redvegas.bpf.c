// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "redvegas.h"

#define NAME "redvegas"
#include "control.h"

SEC(".struct_ops.link")
struct tcp_congestion_ops redvegas = CONTROL;
