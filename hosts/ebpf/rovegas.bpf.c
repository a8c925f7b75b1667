// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "rovegas.h"

#define NAME "rovegas"
#include "control.h"

SEC(".struct_ops.link")
struct tcp_congestion_ops rovegas = CONTROL;
