// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// From what Linux calls a congestion control with, to the events of event.h. Included after a control's header
// and its NAME.
//
// The control has the window: what Linux makes of it after an idle time lasts until the next acknowledgement.
#ifndef WAYMARK_CONTROL_H
#define WAYMARK_CONTROL_H

#include "connection.h"

// What a control keeps of a connection, in icsk_ca_priv.
struct state {
	struct control control;
	__u32 una; // as of the newest event
	__u32 rtt_us; // of the acknowledgement that is being processed; 0: it has none
};

_Static_assert(sizeof(struct state) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv), "no room");

static __always_inline struct state *state_of(struct sock *sk)
{
	return (struct state *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

// Whether the window is larger than what is made of it: in slow start twice as large (RFC 9438, 5.8).
static __always_inline bool window_unused(struct tcp_sock *tcp)
{
	__u32 needed = tcp->snd_cwnd < tcp->snd_ssthresh ? 2 * tcp->max_packets_out : tcp->max_packets_out;

	return !BPF_CORE_READ_BITFIELD(tcp, is_cwnd_limited) && needed < tcp->snd_cwnd;
}

static __always_inline void on_sent(struct sock *sk)
{
	struct control *control = &state_of(sk)->control;

	control_on_sent(control, ((struct tcp_sock *)sk)->tcp_mstamp);
	trace_change(sk, control, TRACED_SENT, 0);
}

SEC("struct_ops")
void BPF_PROG(on_init, struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct state *state = state_of(sk);

	__builtin_memset(state, 0, sizeof(*state));
	state->una = tcp->snd_una;
	control_start(&state->control, tcp->snd_cwnd, tcp->snd_nxt);
	trace_change(sk, &state->control, TRACED_START, tcp->snd_cwnd);
	// Segments that leave together wait behind each other, which a delay-based control takes for congestion.
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	if (tcp->packets_out)
		on_sent(sk);
}

SEC("struct_ops")
void BPF_PROG(on_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		on_sent(sk);
}

SEC("struct_ops")
void BPF_PROG(on_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	state_of(sk)->rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;
}

SEC("struct_ops")
void BPF_PROG(on_cong_avoid, struct sock *sk, __u32 una, __u32 acked)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct feedback *feedback = feedback_of(sk);
	struct state *state = state_of(sk);
	struct ack ack = {};
	__u32 window;

	// Linux also calls for duplicates, where packets arrive out of order.
	if (state->una == tcp->snd_una)
		return;
	state->una = tcp->snd_una;
	ack.now_us = tcp->tcp_mstamp;
	ack.una = tcp->snd_una;
	ack.next = tcp->snd_nxt;
	ack.mss = segment_octets(tcp);
	ack.newly = acked ? acked : 1;
	ack.in_flight = tcp->packets_out;
	ack.most = tcp->snd_cwnd_clamp;
	ack.rtt_us = state->rtt_us;
	ack.window_unused = window_unused(tcp);
	if (feedback)
		apply_feedback(&ack, feedback);
	control_on_ack(&state->control, &ack);
	window = WHOLE(control_cwnd(&state->control));
	tcp->snd_cwnd = window ? window : 1;
	tcp->snd_ssthresh = WHOLE(control_ssthresh(&state->control));
	trace_ack(sk, &state->control, &ack);
}

// Linux recovers until all is acknowledged that was sent before, and asks once. So a loss never cuts a window that was
// cut after the lost segment left.
SEC("struct_ops")
__u32 BPF_PROG(on_ssthresh, struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct feedback *feedback = feedback_of(sk);
	struct state *state = state_of(sk);
	struct loss loss = {};
	__u32 window;

	loss.now_us = tcp->tcp_mstamp;
	loss.una = tcp->snd_una;
	loss.mss = segment_octets(tcp);
	loss.window = tcp->snd_cwnd;
	if (feedback) {
		loss.ci_echoed = !!feedback->ci_echoes;
		loss.ci_ack_seq = feedback->ci_ack_seq;
	}
	control_on_loss(&state->control, &loss);
	trace_loss(sk, &state->control, &loss);
	window = WHOLE(control_cwnd(&state->control));
	return window < 2 ? 2 : window;
}

SEC("struct_ops")
void BPF_PROG(on_set_state, struct sock *sk, __u8 next)
{
	struct inet_connection_sock *connection = (struct inet_connection_sock *)sk;
	struct control *control = &state_of(sk)->control;
	__u8 before = connection->icsk_ca_state;

	if (next == STATE_LOSS && !connection->icsk_retransmits) {
		bool cut = before == STATE_CWR || before == STATE_RECOVERY;
		// Except in a recovery, on_ssthresh was just called.
		__u32 window = cut ? WHOLE(control_cwnd(control)) : ((struct tcp_sock *)sk)->prior_cwnd;

		control_on_timeout(control, window);
		trace_change(sk, control, TRACED_TIMEOUT, window);
	} else if (next == STATE_OPEN && before == STATE_RECOVERY) {
		control_on_recovered(control);
		trace_change(sk, control, TRACED_RECOVERED, 0);
	}
}

#define CONTROL                                                                                                        \
	{                                                                                                              \
		.init = (void *)on_init,                                                                               \
		.cwnd_event = (void *)on_event,                                                                        \
		.pkts_acked = (void *)on_pkts_acked,                                                                   \
		.cong_avoid = (void *)on_cong_avoid,                                                                   \
		.ssthresh = (void *)on_ssthresh,                                                                       \
		.set_state = (void *)on_set_state,                                                                     \
		.undo_cwnd = (void *)on_undo_cwnd,                                                                     \
		.min_tso_segs = (void *)on_min_tso_segs,                                                               \
		.flags = TCP_CONG_NON_RESTRICTED,                                                                      \
		.name = "wm_" NAME,                                                                                    \
	}

#endif
