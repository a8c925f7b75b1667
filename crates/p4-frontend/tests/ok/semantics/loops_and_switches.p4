#include "included/bare.p4"
enum Mood { calm, busy }
control Count(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        bit<8> sum = 0;
        for (bit<8> i = 0; i < hdr.pair.a; i = i + 1) {
            if (i == 3) continue;
            if (sum > 200) break;
            sum += i;
        }
        for (bit<8> i in 250 .. 255) { sum = sum |+| i; }
        for (bit<8> i in { 2, 3, 5 }) { sum = sum ^ i; }
        Mood mood = sum > 9 ? Mood.busy : Mood.calm;
        switch (hdr.pair.b) {
            1:
            2: { sum = 0; }
            0xff: { sum = 1; }
            default: { exit; }
        }
        switch (mood) { Mood.busy: { hdr.pair.b = sum; } }
    }
}
Device(TakePair(), Count(), PutPair()) main;
