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

// RFC 9293.
header tcp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4>  data_offset;     // header length in words of 32 bits, 5 to 15
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

// TCP-INT (p4lang/p4app-TCP-INT): a TCP option of 12 octets. Receivers write its last four.
header tcp_int_h {
    bit<8>  kind;            // 0x72
    bit<8>  length;          // 12
    bit<4>  tag_frequency;   // how often switches write, as requested by the sender
    bit<4>  link_speed;      // of the worst hop: a code; 0: another
    bit<8>  value;           // of the worst hop: below 0x80 its utilisation, else 0x80 and its queue
    bit<8>  hop;             // the packet's TTL behind the worst hop; 0: none wrote it
    bit<24> latency;         // sum of the hops', in units of 2^8 ns
    bit<32> echo;
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
