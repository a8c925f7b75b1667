header ethernet_h {
    bit<48> dst
    bit<48> src;
    bit<16> type;
}
