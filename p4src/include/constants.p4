// Constants of the wire format and of these programs.

#ifndef WAYMARK_CONSTANTS_P4
#define WAYMARK_CONSTANTS_P4

#include "types.p4"

const ether_type_t ETHER_TYPE_IPV4 = 0x0800;
const ether_type_t ETHER_TYPE_VLAN = 0x8100;

// IPv4 option types. AQT and AVBW-S use the experiment number 30 of RFC 4727, class 2.
const bit<8> OPTION_EOL  = 0x00;
const bit<8> OPTION_NOP  = 0x01;
const bit<8> OPTION_AQT  = 0x5E;  // not copied into fragments
const bit<8> OPTION_AVBW = 0xDE;  // copied into fragments

// Lengths in octets, with the type and length octets.
const bit<8> AQT_LENGTH  = 8;
const bit<8> AVBW_LENGTH = 4;

const bit<32> PORTS      = 1 << PORT_WIDTH;
const bit<32> PRIORITIES = 1 << PRIORITY_WIDTH;
const bit<32> QUEUES     = PORTS * PRIORITIES;

#endif
