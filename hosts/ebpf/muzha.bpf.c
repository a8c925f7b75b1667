// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "muzha.h"

#define NAME "muzha"
#include "control.h"

SEC(".struct_ops.link")
struct tcp_congestion_ops muzha = CONTROL;
