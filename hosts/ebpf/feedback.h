// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// What options.bpf.c reads from the packets of a connection. Plain C, as a test runs the controls on any machine.
#ifndef WAYMARK_FEEDBACK_H
#define WAYMARK_FEEDBACK_H

#include <linux/types.h>

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
	__u32 ci_ack_seq;      // acknowledgement number of the newest of these
	__u8 carried;          // the marks that the newest packet carried
	__u8 mrai;             // MRAI-Echo, 1 to 6; 0: no hop has written an index
	__u8 ci_echo;          // 1: the newest packet echoes CI
	__u8 padding;
};

#endif
