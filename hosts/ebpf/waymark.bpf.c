// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Registers waymark. Its histories do not fit icsk_ca_priv, so that they are in a map. It has cong_control, so that Linux
// leaves it window and pacing rate, in a recovery too.
#include "waymark.h"

#define NAME "waymark"
#include "connection.h"

// The kernel calls cong_control with other arguments since this version.
#define ARGUMENTS_CHANGED KERNEL_VERSION(6, 10, 0)

extern int LINUX_KERNEL_VERSION __kconfig;

struct state {
	struct control control;
	__u32 delivered; // as of the newest acknowledgement, as are the next three
	__u32 lost;
	__u32 sent;
	__u32 ci_echoes;
	__u8 lossy; // a recovery began since
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct state);
} waymark_states SEC(".maps");

static __always_inline struct state *state_of(struct sock *sk)
{
	return bpf_sk_storage_get(&waymark_states, sk, NULL, 0);
}

static __always_inline struct state *start(struct sock *sk)
{
	struct state *state = bpf_sk_storage_get(&waymark_states, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	struct feedback *feedback = feedback_of(sk);
	struct tcp_sock *tcp = (struct tcp_sock *)sk;

	if (!state)
		return NULL;
	control_start(&state->control, tcp->snd_cwnd, tcp->snd_nxt);
	state->delivered = tcp->delivered;
	state->lost = tcp->lost;
	state->sent = tcp->data_segs_out;
	state->ci_echoes = feedback ? feedback->ci_echoes : 0;
	trace_change(sk, &state->control, TRACED_START, tcp->snd_cwnd);
	return state;
}

static __always_inline void set_rate(struct sock *sk, const struct control *control)
{
	__u64 rate = scale(control_rate(control), segment_octets((struct tcp_sock *)sk), ONE);

	if (rate)
		sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

static __always_inline void set_window(struct tcp_sock *tcp, const struct control *control)
{
	__u32 window = WHOLE(control_cwnd(control));

	tcp->snd_cwnd = window ? window : 1;
	tcp->snd_ssthresh = WHOLE(control_ssthresh(control));
}

SEC("struct_ops")
void BPF_PROG(on_init, struct sock *sk)
{
	start(sk);
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(on_release, struct sock *sk)
{
	bpf_sk_storage_delete(&waymark_states, sk);
}

static __always_inline void on_loss(struct sock *sk, struct state *state)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct loss loss = {};

	loss.now_us = tcp->tcp_mstamp;
	loss.una = tcp->snd_una;
	loss.mss = segment_octets(tcp);
	loss.window = tcp->prior_cwnd;
	control_on_loss(&state->control, &loss);
	trace_loss(sk, &state->control, &loss);
}

static __always_inline void on_ack(struct sock *sk, const struct rate_sample *sample)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct feedback *feedback = feedback_of(sk);
	struct state *state = state_of(sk);
	struct ack ack = {};

	if (!state) {
		// The handshake's, before on_init; or there was no memory then.
		if (BPF_CORE_READ_BITFIELD(&tcp->inet_conn, icsk_ca_initialized))
			start(sk);
		return;
	}
	ack.now_us = tcp->tcp_mstamp;
	ack.una = tcp->snd_una;
	ack.next = tcp->snd_nxt;
	ack.mss = segment_octets(tcp);
	ack.newly = tcp->delivered - state->delivered;
	ack.in_flight = tcp->packets_out - tcp->sacked_out - tcp->lost_out + tcp->retrans_out;
	ack.most = tcp->snd_cwnd_clamp;
	ack.rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;
	ack.app_limited = sample->is_app_limited;
	ack.sent = tcp->data_segs_out - state->sent;
	ack.lost = tcp->lost - state->lost;
	if (feedback) {
		apply_feedback(&ack, feedback);
		ack.ci_echo = feedback->ci_echoes != state->ci_echoes;
		state->ci_echoes = feedback->ci_echoes;
	}
	state->delivered += ack.newly;
	state->lost += ack.lost;
	state->sent += ack.sent;
	control_on_ack(&state->control, &ack);
	trace_ack(sk, &state->control, &ack);
	if (state->lossy)
		on_loss(sk, state);
	state->lossy = 0;
	set_window(tcp, &state->control);
	set_rate(sk, &state->control);
}

SEC("struct_ops")
int on_cong_control(__u64 *arguments)
{
	if (LINUX_KERNEL_VERSION < ARGUMENTS_CHANGED)
		on_ack((struct sock *)arguments[0], (const struct rate_sample *)arguments[1]);
	else
		on_ack((struct sock *)arguments[0], (const struct rate_sample *)arguments[3]);
	return 0;
}

// A recovery begins before cong_control is called with the acknowledgement that shows the loss. The CI of that
// acknowledgement tells what the loss means.
SEC("struct_ops")
void BPF_PROG(on_set_state, struct sock *sk, __u8 next)
{
	struct inet_connection_sock *connection = (struct inet_connection_sock *)sk;
	struct state *state = state_of(sk);
	__u8 before = connection->icsk_ca_state;
	__u32 window = ((struct tcp_sock *)sk)->prior_cwnd;

	if (!state)
		return;
	if (next == STATE_RECOVERY && before != STATE_RECOVERY) {
		state->lossy = 1;
	} else if (next == STATE_LOSS && !connection->icsk_retransmits) {
		state->lossy = 0;
		control_on_timeout(&state->control, window);
		trace_change(sk, &state->control, TRACED_TIMEOUT, window);
		set_rate(sk, &state->control);
	} else if (next == STATE_OPEN && before == STATE_RECOVERY) {
		trace_change(sk, &state->control, TRACED_RECOVERED, 0);
	}
}

SEC("struct_ops")
__u32 BPF_PROG(on_ssthresh, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops waymark = {
	.init = (void *)on_init,
	.release = (void *)on_release,
	.cong_control = (void *)on_cong_control,
	.set_state = (void *)on_set_state,
	.ssthresh = (void *)on_ssthresh,
	.undo_cwnd = (void *)on_undo_cwnd,
	.min_tso_segs = (void *)on_min_tso_segs,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "wm_" NAME,
};
