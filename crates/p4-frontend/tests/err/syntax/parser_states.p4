parser P(packet_in b, out bit<8> x) {
    state start {
        x = 1;
        transition select(x) {
            1: accept
            2 -> reject;
            default: reject;
        }
        x = 2;
    }
    state returning {
        return;
        if (x == 1) { exit; }
        transition accept;
    }
    bit<8> late;
    state next {
        transition;
    }
}
