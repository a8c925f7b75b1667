// CSIG, congestion signaling (draft-ravi-ippm-csig-01): the compact tag's constants.

#ifndef WAYMARK_CSIG_CONSTANTS_P4
#define WAYMARK_CSIG_CONSTANTS_P4

#include "types.p4"

// No EtherType is assigned. This is IEEE 802's for local experiments; hosts and switches of a domain have the same.
#ifndef CSIG_TPID
#define CSIG_TPID 0x88B5
#endif

const ether_type_t ETHER_TYPE_CSIG = CSIG_TPID;

// Octets of the tag.
const bit<16> CSIG_LENGTH = 4;

// The signal that a tag requests. Tags with other values are forwarded unchanged.
enum bit<3> csig_signal_t {
    AVAILABLE       = 0,  // available bandwidth (ABW): the minimum of the path
    AVAILABLE_SHARE = 1,  // available bandwidth divided by capacity (ABW/C): the minimum
    DELAY           = 2   // per-hop delay (PD): the maximum
}

// The initial values of a tag, which the sender writes.
const bit<5> CSIG_MOST  = 31;  // for signals whose minimum is collected
const bit<5> CSIG_LEAST = 0;   // for signals whose maximum is collected
const bit<7> CSIG_NO_HOP = 0;

// What happened to a tag, and its slot in `csig_tags`.
enum bit<3> csig_event_t {
    AVAILABLE       = 0,  // this hop wrote its value of that signal
    AVAILABLE_SHARE = 1,
    DELAY           = 2,
    UNKNOWN         = 3,  // a signal that this hop does not know
    INSERTED        = 4,
    REMOVED         = 5
}

#endif
