// mark_to_drop on a parameter, one way for each value of `h.way`. The packet leaves on port 1 unless it is dropped.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> way;
}

struct headers_t {
    h_t h;
}

struct holder_t {
    bit<8> before;
    standard_metadata_t sm;
}

struct metadata_t {
    holder_t holder;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

action global_drop(inout standard_metadata_t x) {
    mark_to_drop(x);
}

action outer_drop(inout standard_metadata_t x) {
    global_drop(x);
}

void drop_function(inout standard_metadata_t x) {
    mark_to_drop(x);
}

// Whether it drops its second parameter and not its first.
void drop_second(inout standard_metadata_t x, inout standard_metadata_t y) {
    mark_to_drop(y);
}

void drop_if_returned(inout standard_metadata_t x, in bool early) {
    if (early) {
        mark_to_drop(x);
        return;
    }
}

control Drop(inout standard_metadata_t x) {
    apply {
        mark_to_drop(x);
    }
}

control DropMember(inout holder_t holder) {
    apply {
        mark_to_drop(holder.sm);
    }
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    standard_metadata_t other = sm;
    Drop() applied_twice;

    action own_drop(inout standard_metadata_t x) {
        mark_to_drop(x);
    }

    action drop_and_exit(inout standard_metadata_t x) {
        mark_to_drop(x);
        exit;
    }

    table by_default {
        actions = { own_drop(sm); }
        const default_action = own_drop(sm);
    }

    table by_entry {
        key = { hdr.h.way: exact; }
        actions = { own_drop(sm); NoAction; }
        const entries = { 3: own_drop(sm); }
        const default_action = NoAction;
    }

    apply {
        sm.egress_spec = 1;
        switch (hdr.h.way) {
            1: { own_drop(sm); }
            2: { by_default.apply(); }
            3: { by_entry.apply(); }
            4: { global_drop(sm); }
            5: { outer_drop(sm); }
            6: { drop_function(sm); }
            7: { applied_twice.apply(sm); }
            8: { applied_twice.apply(other); }
            9: { own_drop(other); }
            10: { drop_second(other, sm); }
            11: { drop_second(sm, other); }
            12: { drop_if_returned(sm, true); }
            13: { drop_and_exit(sm); }
            14: { mark_to_drop(meta.holder.sm); }
            15: {
                meta.holder.sm = sm;
                DropMember.apply(meta.holder);
                sm = meta.holder.sm;
            }
            16: {
                sm.mcast_grp = 1;
                own_drop(sm);
            }
            17: {
                own_drop(other);
                sm = other;
            }
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.h.way == 32) {
            outer_drop(sm);
        }
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
