#include "included/bare.p4"
bit<8> three() { return 3; }
parser Choose(packet_in packet, in bit<8> x, in bool b) {
    state start {
        transition select(x) {
            three(): accept;
            8w1 .. 16w2: accept;
            8w1 &&& 8s1: accept;
            true: accept;
            (1, 2): accept;
            default: second;
        }
    }
    state second { transition select(x, ...) { (1, 2): accept; default: reject; } }
}
control Use(in bit<8> x) {
    apply {
        switch (x) { 16w1: { } true: { } default: { } default: { } }
        bool same = { a = 8w1 } == { a = 8w1 };
        bool tuples = { 8w1 } == { 8w1 };
        list<bit<8>> several;
        bool wrong = several;
    }
}
