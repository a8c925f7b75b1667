// Headers, in the order of the wire.

#ifndef WAYMARK_HEADERS_P4
#define WAYMARK_HEADERS_P4

#include "types.p4"

header ethernet_h {
    mac_addr_t   dst_addr;
    mac_addr_t   src_addr;
    ether_type_t ether_type;
}

// IEEE 802.1Q.
header vlan_h {
    bit<3>       pcp;
    bit<1>       dei;
    bit<12>      vid;
    ether_type_t ether_type;
}

// CSIG, congestion signaling (draft-ravi-ippm-csig-01): the compact tag behind its TPID.
header csig_h {
    bit<3>       signal;     // csig_signal_t
    bit<1>       reserved;
    bit<5>       band;       // the worst hop's value, quantised
    bit<7>       locator;    // that hop; 0: none wrote it
    ether_type_t ether_type;
}

// RFC 791, with the second octet split according to RFC 2474 and RFC 3168.
header ipv4_h {
    bit<4>      version;
    bit<4>      ihl;        // header length in words of 32 bits, 5 to 15
    bit<6>      dscp;
    bit<2>      ecn;        // carries CI
    bit<16>     total_len;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

// A run of option octets that this hop forwards unchanged.
header option_run_h {
    varbit<320> octets;
}

// Accumulated queueing time: an IPv4 option of 8 octets.
header aqt_h {
    bit<8>  option_type;
    bit<8>  length;         // 8
    bit<24> aqt_us;
    bit<24> aqt_echo_us;    // written by the receiver only
}

// Data rate adjustment index: an IPv4 option of 4 octets.
header avbw_h {
    bit<8> option_type;
    bit<8> length;       // 4
    bit<8> drai;         // 0xFF: not written by any hop
    bit<8> mrai_echo;
}

#endif
