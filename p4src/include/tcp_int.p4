// TCP-INT (p4lang/p4app-TCP-INT): constants of the option.

#ifndef WAYMARK_TCP_INT_CONSTANTS_P4
#define WAYMARK_TCP_INT_CONSTANTS_P4

const bit<8> TCP_OPTION_EOL = 0;
const bit<8> TCP_OPTION_NOP = 1;
const bit<8> TCP_OPTION_INT = 0x72;

const bit<8> TCP_INT_LENGTH = 12;

const bit<8>  TCP_INT_FULL        = 0x7F;      // a utilisation of 1
const bit<8>  TCP_INT_QUEUE       = 0x80;      // from here on, the queue's length
const bit<24> TCP_INT_MAX_LATENCY = 0xFFFFFF;  // "at least this long"

// Latencies are in units of 2^8 ns, a queue's length in units of 2^13 octets.
const bit<40> NS_PER_US = 1000;

#endif
