// The ECN field (RFC 3168, section 5; RFC 9331, section 2).

#ifndef WAYMARK_ECN_CODEPOINTS_P4
#define WAYMARK_ECN_CODEPOINTS_P4

const bit<2> ECN_NOT_CAPABLE = 0b00;
const bit<2> ECN_L4S         = 0b01;  // ECT(1)
const bit<2> ECN_CLASSIC     = 0b10;  // ECT(0)
const bit<2> ECN_EXPERIENCED = 0b11;

#endif
