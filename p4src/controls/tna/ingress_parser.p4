// TNA: from Ethernet to the last octet of the IPv4 header, and its checksum.

#ifndef WAYMARK_TNA_INGRESS_PARSER_P4
#define WAYMARK_TNA_INGRESS_PARSER_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"

parser HopIngressParser(packet_in packet,
                        out headers_t hdr,
                        out metadata_t meta,
                        out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() checksum;

    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT : from_controller;
            default  : ethernet;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHER_TYPE_VLAN : vlan;
            ETHER_TYPE_IPV4 : ipv4;
            default         : not_ipv4;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHER_TYPE_IPV4 : ipv4;
            default         : tagged_not_ipv4;
        }
    }

    // A parser can assign a field only once.
    state not_ipv4        { meta.ether_type = hdr.ethernet.ether_type; transition accept; }
    state tagged_not_ipv4 { meta.ether_type = hdr.vlan.ether_type;     transition accept; }

    // The chain of states is entered at the length of the list of options, so no counter is needed.
    state ipv4 {
        packet.extract(hdr.ipv4);
        checksum.add(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5)  : verify_checksum;
            (4, 6)  : word_9;
            (4, 7)  : word_8;
            (4, 8)  : word_7;
            (4, 9)  : word_6;
            (4, 10) : word_5;
            (4, 11) : word_4;
            (4, 12) : word_3;
            (4, 13) : word_2;
            (4, 14) : word_1;
            (4, 15) : word_0;
            default : malformed;
        }
    }

    state word_0 { packet.extract(hdr.options[0]); checksum.add(hdr.options[0]); transition word_1;         }
    state word_1 { packet.extract(hdr.options[1]); checksum.add(hdr.options[1]); transition word_2;         }
    state word_2 { packet.extract(hdr.options[2]); checksum.add(hdr.options[2]); transition word_3;         }
    state word_3 { packet.extract(hdr.options[3]); checksum.add(hdr.options[3]); transition word_4;         }
    state word_4 { packet.extract(hdr.options[4]); checksum.add(hdr.options[4]); transition word_5;         }
    state word_5 { packet.extract(hdr.options[5]); checksum.add(hdr.options[5]); transition word_6;         }
    state word_6 { packet.extract(hdr.options[6]); checksum.add(hdr.options[6]); transition word_7;         }
    state word_7 { packet.extract(hdr.options[7]); checksum.add(hdr.options[7]); transition word_8;         }
    state word_8 { packet.extract(hdr.options[8]); checksum.add(hdr.options[8]); transition word_9;         }
    state word_9 { packet.extract(hdr.options[9]); checksum.add(hdr.options[9]); transition verify_checksum; }

    state verify_checksum {
        meta.checksum_error = (bit<1>) checksum.verify();
        transition accept;
    }

    state malformed {
        meta.drop_cause = drop_cause_t.MALFORMED;
        transition accept;
    }
}

#endif
