// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Writes the marks into the TCP packets that leave an interface, and takes them out of those that arrive, before
// TCP sees them. Formats: p4src/include and docs/marks.md. IPv4 over Ethernet only; all else passes as it is.
//
// Nothing is dropped and nothing is cut here. Where there is no room for the options, a packet leaves without.
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "marks.h"

// Continue with the next program, as in enum tcx_action_base, which headers before Linux 6.6 lack.
#define TCX_NEXT -1

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_AQT 0x5E // RFC 4727: class 2, number 30
#define OPTION_AVBW 0xDE // the same, copied into fragments
#define AQT_OCTETS 8
#define AVBW_OCTETS 4

#define IP_OCTETS 20
#define IP_MAX_OCTETS 60
#define TCP_OCTETS 20
#define TCP_MAX_OPTION_OCTETS 40
#define TCP_OPTION_MSS 2
#define FRAGMENT_BITS 0x3FFF // more fragments, and the offset
#define ECN_MASK 3
#define ECN_CAPABLE 2
#define ECN_EXPERIENCED 3

// Less than this is left for data by no end that advertises a segment size (RFC 9293, 3.7.1).
#define LEAST_MSS 64

// The loader sets it: the marks of this host's own packets, MARK_*.
const volatile __u8 own_marks = MARK_AQT;
// The loader sets it: waymark_strip is attached as well.
const volatile __u8 strips_early = 0;

struct packet {
	struct iphdr ip; // without options
	struct tcphdr tcp; // without options
	__u32 tcp_at; // octets of the frame before the TCP header
	__u32 payload; // octets of data; of all segments together where they are not cut yet
};

static __always_inline __u32 option_octets(__u8 marks)
{
	return (marks & MARK_AQT ? AQT_OCTETS : 0) + (marks & MARK_DRAI ? AVBW_OCTETS : 0);
}

// Reads the headers. False: not a whole TCP packet over IPv4.
static __always_inline bool read_packet(struct __sk_buff *skb, struct packet *packet)
{
	struct iphdr *ip = &packet->ip;
	struct tcphdr *tcp = &packet->tcp;
	__u32 headers, total;

	if (skb->protocol != bpf_htons(ETH_P_IP))
		return false;
	if (bpf_skb_load_bytes(skb, ETH_HLEN, ip, sizeof(*ip)))
		return false;
	if (ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_TCP ||
	    ip->frag_off & bpf_htons(FRAGMENT_BITS))
		return false;
	packet->tcp_at = ETH_HLEN + ip->ihl * 4;
	if (bpf_skb_load_bytes(skb, packet->tcp_at, tcp, sizeof(*tcp)))
		return false;
	headers = ip->ihl * 4 + tcp->doff * 4;
	total = bpf_ntohs(ip->tot_len);
	if (tcp->doff < 5 || total < headers || total > skb->len - ETH_HLEN)
		return false;
	packet->payload = total - headers;
	return true;
}

// The Internet checksum (RFC 1071) of a header with zeros behind it.
static __always_inline __u16 checksum(__u8 header[IP_MAX_OCTETS])
{
	__u32 sum = bpf_csum_diff(NULL, 0, (__be32 *)header, IP_MAX_OCTETS, 0);

	sum = (sum & 0xFFFF) + (sum >> 16);
	return ~((sum & 0xFFFF) + (sum >> 16));
}

static __always_inline void put24(__u8 *to, __u32 value)
{
	to[0] = value >> 16;
	to[1] = value >> 8;
	to[2] = value;
}

static __always_inline __u32 get24(const __u8 *from)
{
	return from[0] << 16 | from[1] << 8 | from[2];
}

// Replaces TCP's control bits, its octets 12 and 13, and adjusts the checksum.
static __always_inline void set_control_bits(struct __sk_buff *skb, struct packet *packet, __be16 to)
{
	__be16 from = ((__be16 *)&packet->tcp)[6];
	__u32 at = packet->tcp_at;

	if (from == to)
		return;
	bpf_l4_csum_replace(skb, at + offsetof(struct tcphdr, check), from, to, sizeof(to));
	bpf_skb_store_bytes(skb, at + 12, &to, sizeof(to), BPF_F_RECOMPUTE_CSUM);
}

#define CONTROL_AE bpf_htons(0x0100)
#define CONTROL_CWR bpf_htons(0x0080)
#define CONTROL_ECE bpf_htons(0x0040)

static __always_inline __be16 control_bits(const struct packet *packet)
{
	return ((const __be16 *)&packet->tcp)[6];
}

// ---- Departure ----

// CI is agreed upon as ECN is (RFC 3168, 6.1.1), and by these programs alone: TCP sees none of it.
static __always_inline void ask_for_ci(struct __sk_buff *skb, struct packet *packet)
{
	__be16 bits = control_bits(packet) & ~(CONTROL_AE | CONTROL_CWR | CONTROL_ECE);

	bits |= packet->tcp.ack ? CONTROL_ECE : CONTROL_ECE | CONTROL_CWR;
	set_control_bits(skb, packet, bits);
}

// Whether every segment of the packet has room for more octets in its header.
static __always_inline bool has_room(struct __sk_buff *skb, const struct packet *packet,
				     const struct tcp_sock *tcp, __u32 more)
{
	__u32 data = skb->gso_size ? skb->gso_size : packet->payload;
	__u32 segment = IP_OCTETS + packet->tcp.doff * 4 + data;

	return segment + more <= tcp->inet_conn.icsk_pmtu_cookie &&
	       bpf_ntohs(packet->ip.tot_len) + more <= 0xFFFF;
}

// Writes the header with the options of a set of marks. False: the packet is as it was.
static __always_inline bool write_options(struct __sk_buff *skb, const struct packet *packet,
					  const struct received *received, __u8 marks, __u8 ecn)
{
	__u64 flags = BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET;
	__u8 header[IP_MAX_OCTETS] = {};
	struct iphdr *ip = (struct iphdr *)header;
	__u32 octets = option_octets(marks);
	__u8 *aqt = header + IP_OCTETS;
	__u8 *avbw = marks & MARK_AQT ? aqt + AQT_OCTETS : aqt;

	*ip = packet->ip;
	ip->ihl = (IP_OCTETS + octets) / 4;
	ip->tos |= ecn;
	ip->tot_len = bpf_htons(bpf_ntohs(ip->tot_len) + octets);
	if (marks & MARK_AQT) {
		aqt[0] = OPTION_AQT;
		aqt[1] = AQT_OCTETS;
		put24(aqt + 5, received->carried & MARK_AQT ? received->aqt_us : 0);
	}
	if (marks & MARK_DRAI) {
		avbw[0] = OPTION_AVBW;
		avbw[1] = AVBW_OCTETS;
		avbw[2] = DRAI_SILENT;
		avbw[3] = received->carried & MARK_DRAI ? received->drai : DRAI_SILENT;
	}
	ip->check = 0;
	ip->check = checksum(header);
	if (octets && bpf_skb_adjust_room(skb, octets, BPF_ADJ_ROOM_NET, flags))
		return false;
	switch (octets) {
	case AQT_OCTETS + AVBW_OCTETS:
		bpf_skb_store_bytes(skb, ETH_HLEN, header, IP_OCTETS + AQT_OCTETS + AVBW_OCTETS, 0);
		break;
	case AQT_OCTETS:
		bpf_skb_store_bytes(skb, ETH_HLEN, header, IP_OCTETS + AQT_OCTETS, 0);
		break;
	case AVBW_OCTETS:
		bpf_skb_store_bytes(skb, ETH_HLEN, header, IP_OCTETS + AVBW_OCTETS, 0);
		break;
	default:
		bpf_skb_store_bytes(skb, ETH_HLEN, header, IP_OCTETS, 0);
	}
	return true;
}

SEC("tcx/egress")
int waymark_egress(struct __sk_buff *skb)
{
	struct packet packet = {};
	struct bpf_sock *sk = skb->sk;
	struct tcp_sock *tcp;
	struct marks *marks;
	__u8 carried, ecn;

	if (!sk || !read_packet(skb, &packet) || packet.ip.ihl != 5)
		return TCX_NEXT;
	if (packet.tcp.syn && own_marks & MARK_CI)
		ask_for_ci(skb, &packet);
	if (packet.tcp.syn || packet.tcp.rst)
		return TCX_NEXT;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return TCX_NEXT;
	tcp = bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return TCX_NEXT;
	marks = bpf_sk_storage_get(&waymark_marks, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!marks)
		return TCX_NEXT;

	carried = own_marks & (MARK_AQT | MARK_DRAI);
	// What arrived is echoed by an acknowledgement whether or not this host's own packets have it.
	if (!packet.payload)
		carried |= marks->received.carried & (MARK_AQT | MARK_DRAI);
	if (!has_room(skb, &packet, tcp, option_octets(carried)))
		carried = 0;
	ecn = packet.payload && own_marks & MARK_CI && !tcp->ecn_flags ? ECN_CAPABLE : 0;
	// The TCP header is changed first, because it moves with the options.
	if (own_marks & MARK_CI && marks->received.ci)
		set_control_bits(skb, &packet, control_bits(&packet) | CONTROL_ECE);
	if ((carried || ecn) && !write_options(skb, &packet, &marks->received, carried, ecn))
		return TCX_NEXT;
	marks->received.carried &= ~MARK_DRAI;
	marks->received.ci = 0;
	return TCX_NEXT;
}

// ---- Arrival ----

struct arrived {
	__u8 header[IP_MAX_OCTETS]; // with options; zeros behind them
	__u32 end; // of the options, in the header
	__u32 at; // of the option to read next
	__u32 aqt_us;
	__u32 aqt_echo_us;
	__u8 carried; // MARK_AQT, MARK_DRAI
	__u8 drai;
	__u8 mrai_echo;
	__u8 strip; // octets of options to take out, at the start of the options
};

// Reads one option: the first of each of the marks'. One that is not valid ends the search: the marks behind it
// are not seen, and TCP receives them as they are. 1: this was the last.
static long read_option(__u32 round, void *context)
{
	struct arrived *arrived = context;
	__u32 at = arrived->at, length;
	const __u8 *option;
	__u8 mark = 0;

	if (at + 2 > arrived->end || at > IP_MAX_OCTETS - 2)
		return 1;
	option = arrived->header + at;
	if (option[0] == OPTION_END)
		return 1;
	if (option[0] == OPTION_NOP) {
		arrived->at++;
		return 0;
	}
	length = option[1];
	if (length < 2 || at + length > arrived->end)
		return 1;
	if (option[0] == OPTION_AQT) {
		if (length != AQT_OCTETS || at > IP_MAX_OCTETS - AQT_OCTETS)
			return 1;
		mark = MARK_AQT & ~arrived->carried;
		if (mark) {
			arrived->aqt_us = get24(option + 2);
			arrived->aqt_echo_us = get24(option + 5);
		}
	} else if (option[0] == OPTION_AVBW) {
		if (length != AVBW_OCTETS || at > IP_MAX_OCTETS - AVBW_OCTETS)
			return 1;
		mark = MARK_DRAI & ~arrived->carried;
		if (mark) {
			arrived->drai = option[2];
			arrived->mrai_echo = option[3];
		}
	}
	arrived->carried |= mark;
	if (mark && at == IP_OCTETS + arrived->strip)
		arrived->strip += length;
	arrived->at = at + length;
	return 0;
}

struct syn_options {
	__u8 octets[TCP_MAX_OPTION_OCTETS];
	__u32 end;
	__u32 at; // of the option to read next; in the end, of the segment size
	bool found;
};

// Looks for the segment size among the options of a SYN. 1: found, or there is none.
static long find_mss(__u32 round, void *context)
{
	struct syn_options *options = context;
	const __u8 *option;
	__u32 at = options->at;

	if (at + 4 > options->end || at > TCP_MAX_OPTION_OCTETS - 4)
		return 1;
	option = options->octets + at;
	if (option[0] == OPTION_NOP) {
		options->at++;
		return 0;
	}
	options->found = option[0] == TCP_OPTION_MSS && option[1] == 4;
	if (options->found || option[0] == OPTION_END || option[1] < 2)
		return 1;
	options->at = at + option[1];
	return 0;
}

// Lowers the segment size that the other end advertised, so that this end's segments leave room for its options
// within the interface's MTU (RFC 6691).
static __always_inline void lower_mss(struct __sk_buff *skb, struct packet *packet, __u32 room)
{
	__u32 octets = packet->tcp.doff * 4 - TCP_OCTETS;
	__u32 at, advertised, mss, most, mtu = 0;
	struct syn_options options = {};
	__be16 from, to;

	if (octets < 4 || octets > TCP_MAX_OPTION_OCTETS)
		return;
	if (bpf_skb_load_bytes(skb, packet->tcp_at + TCP_OCTETS, options.octets, octets))
		return;
	options.end = octets;
	bpf_loop(TCP_MAX_OPTION_OCTETS, find_mss, &options, 0);
	at = options.at;
	if (!options.found || at > TCP_MAX_OPTION_OCTETS - 4)
		return;
	advertised = options.octets[at + 2] << 8 | options.octets[at + 3];
	// Fails only where the interface goes away.
	if (bpf_check_mtu(skb, 0, &mtu, 0, 0) < 0 || mtu < IP_OCTETS + TCP_OCTETS)
		return;
	most = mtu - IP_OCTETS - TCP_OCTETS;
	mss = advertised < most ? advertised : most;
	if (mss < LEAST_MSS + room)
		return;
	mss -= room;
	// Where the value begins at an odd octet, the checksum sees its octets swapped.
	at += packet->tcp_at + TCP_OCTETS + 2;
	from = at & 1 ? advertised >> 8 | advertised << 8 : advertised;
	to = at & 1 ? mss >> 8 | mss << 8 : mss;
	bpf_l4_csum_replace(skb, packet->tcp_at + offsetof(struct tcphdr, check), bpf_htons(from), bpf_htons(to),
			    sizeof(to));
	to = bpf_htons(mss);
	bpf_skb_store_bytes(skb, at, &to, sizeof(to), BPF_F_RECOMPUTE_CSUM);
}

// Notes what a packet brought to a connection. ack_seq is the acknowledgement that the marks came with.
static __always_inline void note(struct __sk_buff *skb, const struct packet *packet, const struct arrived *arrived,
				 __u32 ack_seq)
{
	struct bpf_sock_tuple tuple = {};
	struct feedback *feedback;
	struct received *received;
	struct marks *marks;
	struct bpf_sock *sk;
	bool ci = own_marks & MARK_CI;
	bool ci_echo = ci && packet->tcp.ece;
	bool ci_data = ci && packet->payload && (packet->ip.tos & ECN_MASK) == ECN_EXPERIENCED;
	__u64 flags = arrived->carried || ci_echo || ci_data ? BPF_SK_STORAGE_GET_F_CREATE : 0;

	// A packet without marks that acknowledges brings no information.
	if (!flags && !packet->payload)
		return;
	tuple.ipv4.saddr = packet->ip.saddr;
	tuple.ipv4.daddr = packet->ip.daddr;
	tuple.ipv4.sport = packet->tcp.source;
	tuple.ipv4.dport = packet->tcp.dest;
	sk = bpf_sk_lookup_tcp(skb, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return;
	if (sk->state == BPF_TCP_LISTEN)
		goto out;
	marks = bpf_sk_storage_get(&waymark_marks, sk, NULL, flags);
	if (!marks)
		goto out;
	feedback = &marks->feedback;
	received = &marks->received;
	if (packet->tcp.ack && (arrived->carried || ci_echo)) {
		feedback->carried = arrived->carried | (ci_echo ? MARK_CI : 0);
		feedback->aqt_echo_us = arrived->aqt_echo_us;
		feedback->aqt_backward_us = arrived->aqt_us;
		feedback->mrai = arrived->mrai_echo >= 1 && arrived->mrai_echo <= 6 ? arrived->mrai_echo : 0;
		feedback->ci_echo = ci_echo;
		feedback->ci_echoes += ci_echo;
		feedback->ack_seq = ack_seq;
		if (ci_echo)
			feedback->ci_ack_seq = feedback->ack_seq;
		feedback->packets++;
	}
	if (packet->payload) {
		bool lower = !(received->carried & MARK_DRAI) || arrived->drai < received->drai;

		if (arrived->carried & MARK_DRAI && lower)
			received->drai = arrived->drai;
		received->aqt_us = arrived->aqt_us;
		// The lowest index since the last acknowledgement stays; the queueing time is the newest packet's.
		received->carried = (received->carried & MARK_DRAI) | arrived->carried;
		received->ci |= ci_data;
	}
out:
	bpf_sk_release(sk);
}

// Takes the options out, and writes the header that TCP sees.
static __always_inline void write_plain(struct __sk_buff *skb, const struct packet *packet, __u32 strip)
{
	__u64 flags = BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET;
	__u8 plain[IP_MAX_OCTETS] = {};
	struct iphdr *ip = (struct iphdr *)plain;
	__u32 kept = packet->ip.ihl * 4 - IP_OCTETS - strip;

	if (strip && bpf_skb_adjust_room(skb, -(__s32)strip, BPF_ADJ_ROOM_NET, flags))
		return;
	// What is kept of the options counts for the checksum. Otherwise clang may compare something else with 0, and the
	// verifier would not know that this is not 0.
	barrier_var(kept);
	if (kept && kept <= IP_MAX_OCTETS - IP_OCTETS &&
	    bpf_skb_load_bytes(skb, ETH_HLEN + IP_OCTETS, plain + IP_OCTETS, kept))
		return;
	*ip = packet->ip;
	ip->ihl -= strip / 4;
	ip->tot_len = bpf_htons(bpf_ntohs(ip->tot_len) - strip);
	if (own_marks & MARK_CI)
		ip->tos &= ~ECN_MASK;
	ip->check = 0;
	ip->check = checksum(plain);
	bpf_skb_store_bytes(skb, ETH_HLEN, plain, IP_OCTETS, BPF_F_RECOMPUTE_CSUM);
}

// ---- Arrival before packets are merged ----

// The addresses and ports of a packet.
struct ends {
	__be32 source;
	__be32 destination;
	__be16 source_port;
	__be16 destination_port;
};

// The marks that waymark_strip took out of the newest packet of a connection.
struct early {
	__u32 aqt_us;
	__u32 aqt_echo_us;
	__u32 ack_seq;
	__u8 carried;
	__u8 drai; // the lowest since waymark_ingress saw it
	__u8 mrai_echo;
	__u8 unseen; // waymark_ingress has not seen it
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct ends);
	__type(value, struct early);
} waymark_early SEC(".maps");

static __always_inline struct ends ends_of(const struct iphdr *ip, const struct tcphdr *tcp)
{
	struct ends ends = {
		.source = ip->saddr,
		.destination = ip->daddr,
		.source_port = tcp->source,
		.destination_port = tcp->dest,
	};

	return ends;
}

// The marks of a packet whose options waymark_strip took out, or of one that it has seen since.
static __always_inline void recall(const struct packet *packet, struct arrived *arrived, __u32 *ack_seq)
{
	struct ends ends = ends_of(&packet->ip, &packet->tcp);
	struct early *early = bpf_map_lookup_elem(&waymark_early, &ends);

	if (!early)
		return;
	early->unseen = 0;
	arrived->carried = early->carried;
	arrived->aqt_us = early->aqt_us;
	arrived->aqt_echo_us = early->aqt_echo_us;
	arrived->drai = early->drai;
	arrived->mrai_echo = early->mrai_echo;
	*ack_seq = early->ack_seq;
}

static __always_inline void remember(const struct arrived *arrived, const struct tcphdr *tcp)
{
	struct ends ends = ends_of((const struct iphdr *)arrived->header, tcp);
	struct early *before = bpf_map_lookup_elem(&waymark_early, &ends);
	struct early early = {
		.aqt_us = arrived->aqt_us,
		.aqt_echo_us = arrived->aqt_echo_us,
		.ack_seq = bpf_ntohl(tcp->ack_seq),
		.carried = arrived->carried,
		.drai = arrived->drai,
		.mrai_echo = arrived->mrai_echo,
		.unseen = 1,
	};

	if (before && before->unseen && before->carried & MARK_DRAI && before->drai < early.drai)
		early.drai = before->drai;
	if (before)
		*before = early;
	else if (early.carried)
		bpf_map_update_elem(&waymark_early, &ends, &early, BPF_ANY);
}

// In the driver, before packets of a connection are merged (GRO), which Linux does not do with packets that have
// IPv4 options. Takes the marks out where there are no other options; waymark_ingress does all else.
SEC("xdp")
int waymark_strip(struct xdp_md *xdp)
{
	struct arrived arrived = {};
	struct iphdr *ip = (struct iphdr *)arrived.header;
	struct ethhdr ethernet;
	struct tcphdr tcp;
	__u32 options;

	if (bpf_xdp_load_bytes(xdp, 0, &ethernet, sizeof(ethernet)) ||
	    ethernet.h_proto != bpf_htons(ETH_P_IP) || bpf_xdp_load_bytes(xdp, ETH_HLEN, ip, sizeof(*ip)))
		return XDP_PASS;
	if (ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_TCP ||
	    ip->frag_off & bpf_htons(FRAGMENT_BITS))
		return XDP_PASS;
	options = ip->ihl * 4 - IP_OCTETS;
	if (bpf_xdp_load_bytes(xdp, ETH_HLEN + IP_OCTETS + options, &tcp, sizeof(tcp)))
		return XDP_PASS;
	if (options) {
		if (options > IP_MAX_OCTETS - IP_OCTETS ||
		    bpf_xdp_load_bytes(xdp, ETH_HLEN + IP_OCTETS, arrived.header + IP_OCTETS, options))
			return XDP_PASS;
		if (checksum(arrived.header))
			return XDP_PASS;
		arrived.at = IP_OCTETS;
		arrived.end = IP_OCTETS + options;
		bpf_loop(IP_MAX_OCTETS - IP_OCTETS, read_option, &arrived, 0);
	}
	if (tcp.syn) {
		// Another connection may have had these ends.
		struct ends ends = ends_of(ip, &tcp);

		bpf_map_delete_elem(&waymark_early, &ends);
		return XDP_PASS;
	}
	if (arrived.strip != options)
		return XDP_PASS;
	remember(&arrived, &tcp);
	if (!options || bpf_xdp_adjust_head(xdp, options))
		return XDP_PASS;
	__builtin_memset(arrived.header + IP_OCTETS, 0, IP_MAX_OCTETS - IP_OCTETS);
	ip->ihl = IP_OCTETS / 4;
	ip->tot_len = bpf_htons(bpf_ntohs(ip->tot_len) - options);
	ip->check = 0;
	ip->check = checksum(arrived.header);
	bpf_xdp_store_bytes(xdp, 0, &ethernet, sizeof(ethernet));
	bpf_xdp_store_bytes(xdp, ETH_HLEN, arrived.header, IP_OCTETS);
	return XDP_PASS;
}

SEC("tcx/ingress")
int waymark_ingress(struct __sk_buff *skb)
{
	struct arrived arrived = {};
	struct packet packet = {};
	__u32 options;

	if (!read_packet(skb, &packet))
		return TCX_NEXT;
	*(struct iphdr *)arrived.header = packet.ip;
	options = packet.ip.ihl * 4 - IP_OCTETS;
	if (options && (options > IP_MAX_OCTETS - IP_OCTETS ||
			bpf_skb_load_bytes(skb, ETH_HLEN + IP_OCTETS, arrived.header + IP_OCTETS, options)))
		return TCX_NEXT;
	// A header that was damaged stays so, for the kernel to refuse.
	if (checksum(arrived.header))
		return TCX_NEXT;
	arrived.at = IP_OCTETS;
	arrived.end = IP_OCTETS + options;
	if (options)
		bpf_loop(IP_MAX_OCTETS - IP_OCTETS, read_option, &arrived, 0);
	if (packet.tcp.syn) {
		if (option_octets(own_marks))
			lower_mss(skb, &packet, option_octets(own_marks));
	} else {
		__u32 ack_seq = bpf_ntohl(packet.tcp.ack_seq);

		if (strips_early && !options)
			recall(&packet, &arrived, &ack_seq);
		note(skb, &packet, &arrived, ack_seq);
	}
	if (own_marks & MARK_CI) {
		__be16 bits = CONTROL_ECE;

		if (packet.tcp.syn)
			bits |= CONTROL_CWR | CONTROL_AE;
		set_control_bits(skb, &packet, control_bits(&packet) & ~bits);
	}
	if (arrived.strip || (own_marks & MARK_CI && packet.ip.tos & ECN_MASK))
		write_plain(skb, &packet, arrived.strip);
	return TCX_NEXT;
}

char LICENSE[] SEC("license") = "GPL";
