// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The events of connections, with what their controls made of them, for whoever reads the ring buffer.
#ifndef WAYMARK_TRACE_H
#define WAYMARK_TRACE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "event.h"
#include "kernel.h"

enum traced_change {
	TRACED_ACK,
	TRACED_LOSS,
	TRACED_RECOVERED,
	TRACED_TIMEOUT,
	TRACED_START, // the connection begins
	TRACED_SENT,  // a segment leaves while no other is in flight
};

// crates/kernel-hosts, trace.rs, reads it: 4 words of 64 bits, then 24 of 32 bits, then a name.
struct traced {
	__u64 time_us;
	__u64 cwnd; // as in event.h
	__u64 ssthresh;
	__u64 rate; // of a control that paces, else 0
	__u32 change; // enum traced_change
	__u32 local; // addresses in network order
	__u32 remote;
	__u32 local_port;
	__u32 remote_port;
	__u32 window; // at the start, before a loss or timeout
	__u32 una;
	__u32 next;
	__u32 mss;
	__u32 newly; // from here on as in struct ack
	__u32 in_flight;
	__u32 rtt_us;
	__u32 marked;
	__u32 aqt_echo_us;
	__u32 aqt_backward_us;
	__u32 mrai;
	__u32 window_unused;
	__u32 most;
	__u32 ci_echoed; // of a loss, as in struct loss
	__u32 ci_ack_seq;
	__u32 ci_echo; // from here on as in struct ack
	__u32 app_limited;
	__u32 sent;
	__u32 lost;
	char control[16]; // its name, then zeros
};

// While nobody reads it, it is full of the first events after the last reader.
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} waymark_events SEC(".maps");

// Begins an event; NULL: the buffer is full.
static __always_inline struct traced *trace_begin(struct sock *sk, __u32 change)
{
	struct traced *traced = bpf_ringbuf_reserve(&waymark_events, sizeof(*traced), 0);
	struct tcp_sock *tcp = (struct tcp_sock *)sk;

	if (!traced)
		return NULL;
	__builtin_memset(traced, 0, sizeof(*traced));
	traced->time_us = tcp->tcp_mstamp;
	traced->change = change;
	traced->local = sk->__sk_common.skc_rcv_saddr;
	traced->remote = sk->__sk_common.skc_daddr;
	traced->local_port = sk->__sk_common.skc_num;
	traced->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	traced->una = tcp->snd_una;
	traced->next = tcp->snd_nxt;
	traced->mss = tcp->mss_cache;
	traced->in_flight = tcp->packets_out;
	traced->most = tcp->snd_cwnd_clamp;
	return traced;
}

#endif
