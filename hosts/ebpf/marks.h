// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The marks of a connection: what options.bpf.c reads from packets, and what congestion controls see of it.
#ifndef WAYMARK_MARKS_H
#define WAYMARK_MARKS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "feedback.h"

// What the packets of the other end carried, for the next acknowledgement to echo.
struct received {
	__u32 aqt_us; // of the newest packet with data
	__u8 carried; // the marks that the newest packet with data carried
	__u8 drai;    // the lowest since the last acknowledgement, or DRAI_SILENT
	__u8 ci;      // 1: data came with CI since the last acknowledgement
	__u8 padding;
};

struct marks {
	struct feedback feedback;
	struct received received;
};

// One instance is shared by the programs on all interfaces and by all controls.
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct marks);
} waymark_marks SEC(".maps");

#endif
