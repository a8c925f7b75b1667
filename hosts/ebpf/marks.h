// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The marks of a connection: what options.bpf.c reads from packets, and what congestion controls see of it.
#ifndef WAYMARK_MARKS_H
#define WAYMARK_MARKS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

// Bits of sets of marks.
#define MARK_AQT 1
#define MARK_DRAI 2
#define MARK_CI 4

// An AQT or AQT-Echo of this much or more is a lower bound (µs).
#define AQT_MAX_US 0xFFFFFF
// A DRAI of a path on which no hop has written one.
#define DRAI_SILENT 0xFF

// What the newest packet of the other end says about the packets of this end. Ingress writes it before TCP sees
// the packet. If the socket is busy, TCP may see several packets later, and then finds the marks of the last.
struct feedback {
	__u32 packets;         // that came with feedback so far; changes with every one
	__u32 ack_seq;         // acknowledgement number of the newest packet, host order
	__u32 aqt_echo_us;     // forward queueing time (AQT-Echo); valid with MARK_AQT
	__u32 aqt_backward_us; // backward queueing time (AQT); valid with MARK_AQT
	__u32 ci_echoes;       // packets that echoed CI so far
	__u8 carried;          // the marks that the newest packet carried
	__u8 mrai;             // MRAI-Echo, 1 to 6; 0: no hop has written an index
	__u8 ci_echo;          // 1: the newest packet echoes CI
	__u8 padding;
};

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
