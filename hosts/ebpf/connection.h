// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// What the registrations of all controls share: a connection's marks, its events for traces, and the functions of
// tcp_congestion_ops that do not depend on the control. Included after a control's header and its NAME.
#ifndef WAYMARK_CONNECTION_H
#define WAYMARK_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "event.h"
#include "kernel.h"
#include "marks.h"
#include "trace.h"

#define STATE_OPEN 0 // TCP_CA_Open and so on
#define STATE_CWR 2
#define STATE_RECOVERY 3
#define STATE_LOSS 4

static __always_inline struct feedback *feedback_of(struct sock *sk)
{
	struct marks *marks = bpf_sk_storage_get(&waymark_marks, sk, NULL, 0);

	return marks ? &marks->feedback : NULL;
}

static __always_inline __u32 segment_octets(struct tcp_sock *tcp)
{
	return tcp->mss_cache ? tcp->mss_cache : 1;
}

static __always_inline void trace_end(struct traced *traced, const struct control *control)
{
	__builtin_memcpy(traced->control, NAME, sizeof(NAME));
	traced->cwnd = control_cwnd(control);
	traced->ssthresh = control_ssthresh(control);
#ifdef PACES
	traced->rate = control_rate(control);
#endif
	bpf_ringbuf_submit(traced, 0);
}

// Of all but acknowledgements and losses.
static __always_inline void trace_change(struct sock *sk, const struct control *control, __u32 change, __u32 window)
{
	struct traced *traced = trace_begin(sk, change);

	if (!traced)
		return;
	traced->window = window;
	trace_end(traced, control);
}

static __always_inline void trace_loss(struct sock *sk, const struct control *control, const struct loss *loss)
{
	struct traced *traced = trace_begin(sk, TRACED_LOSS);

	if (!traced)
		return;
	traced->window = loss->window;
	traced->ci_echoed = loss->ci_echoed;
	traced->ci_ack_seq = loss->ci_ack_seq;
	trace_end(traced, control);
}

static __always_inline void trace_ack(struct sock *sk, const struct control *control, const struct ack *ack)
{
	struct traced *traced = trace_begin(sk, TRACED_ACK);

	if (!traced)
		return;
	traced->newly = ack->newly;
	traced->rtt_us = ack->rtt_us;
	traced->marked = ack->marked;
	traced->aqt_echo_us = ack->aqt_echo_us;
	traced->aqt_backward_us = ack->aqt_backward_us;
	traced->mrai = ack->mrai;
	traced->window_unused = ack->window_unused;
	traced->in_flight = ack->in_flight;
	traced->ci_echo = ack->ci_echo;
	traced->app_limited = ack->app_limited;
	traced->sent = ack->sent;
	traced->lost = ack->lost;
	trace_end(traced, control);
}

SEC("struct_ops")
__u32 BPF_PROG(on_undo_cwnd, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

// Otherwise pacing lets at least two segments leave together.
SEC("struct_ops")
__u32 BPF_PROG(on_min_tso_segs, struct sock *sk)
{
	return 1;
}

#define TCP_CONG_NON_RESTRICTED 1 // any namespace may choose it

char LICENSE[] SEC("license") = "GPL";

#endif
