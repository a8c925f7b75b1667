// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The kernel's own types, as far as the programs read them. The loader finds the fields by name in the running
// kernel's BTF (CO-RE), so order, offsets and omitted fields do not matter.
#ifndef WAYMARK_KERNEL_H
#define WAYMARK_KERNEL_H

#include <stdbool.h>

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum tcp_ca_event {
	CA_EVENT_TX_START, // a segment leaves while no other is in flight
};

struct sock_common {
	unsigned short skc_family;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num; // this end's port
};

// What spreads a socket's segments over time.
enum sk_pacing {
	SK_PACING_NONE,
	SK_PACING_NEEDED, // TCP's own timer
	SK_PACING_FQ, // the queueing discipline fq
};

struct sock {
	struct sock_common __sk_common;
	__u32 sk_pacing_status; // enum sk_pacing
	__u64 sk_pacing_rate; // octets per second, as the next
	__u64 sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u32 icsk_pmtu_cookie; // path MTU that the segment size is computed from
	__u8 icsk_ca_state : 5;
	__u8 icsk_ca_initialized : 1; // init was called
	__u8 icsk_retransmits; // timeouts since the last progress
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u8 ecn_flags; // 0: ECN was not negotiated
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_cwnd; // in segments, as are the next two
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd; // before the newest loss or timeout
	__u32 packets_out; // segments sent and not acknowledged
	__u32 sacked_out; // of these: selectively acknowledged
	__u32 lost_out; // of these: lost
	__u32 retrans_out; // of these: sent again
	__u32 delivered; // segments that have arrived so far, selectively acknowledged or not
	__u32 lost; // segments found lost so far
	__u32 data_segs_out; // segments sent so far, for the first time or again
	__u32 max_packets_out; // the most of them in the last window
	__u8 is_cwnd_limited : 1; // the window was full lately
	__u64 tcp_mstamp; // time of the newest packet sent or received (µs)
	__u32 mss_cache; // octets of a segment
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us; // negative: there is none
	__u32 in_flight;
};

struct rate_sample {
	long rtt_us; // of the newest segment covered, if it was sent once; negative: there is none
	bool is_app_limited; // the application held the sender back when that segment was sent
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *sample); // since 6.10
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

#endif
