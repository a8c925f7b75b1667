// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The kernel's own types, as far as the programs read them. The loader finds the fields by name in the running
// kernel's BTF (CO-RE), so order, offsets and omitted fields do not matter.
#ifndef WAYMARK_KERNEL_H
#define WAYMARK_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u32 icsk_pmtu_cookie; // path MTU that the segment size is computed from
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u8 ecn_flags; // 0: ECN was not negotiated
};

#pragma clang attribute pop

#endif
