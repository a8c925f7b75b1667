// v1model around controls for Tofino that only compute: a packet brings their arguments and takes the results.

#include <core.p4>
#include <v1model.p4>
#define __TARGET_TOFINO__ 1
#include "../../../../p4src/controls/tna/queue_time.p4"
#include "../../../../p4src/controls/tna/window.p4"

header io_h {
    bit<32> arrived;
    bit<32> now;
    bit<32> waited_us;
    bit<32> even;
    bit<32> odd;
    bit<32> is_odd;
}

struct h_t { io_h io; }
struct m_t {}
parser P(packet_in p, out h_t h, inout m_t m, inout standard_metadata_t s) {
    state start { p.extract(h.io); transition accept; }
}
control V(inout h_t h, inout m_t m) { apply {} }
control I(inout h_t h, inout m_t m, inout standard_metadata_t s) {
    QueueTime() queue_time;
    Window() window;
    apply {
        window_t at;
        queue_time.apply(h.io.arrived + (PIPELINE_TICKS - ROUNDING_TICKS), h.io.now, h.io.waited_us);
        window.apply(h.io.now, 15, at);
        h.io.even = at.even_start;
        h.io.odd = at.odd_end;
        h.io.is_odd = at.is_odd;
        s.egress_spec = 1;
    }
}
control E(inout h_t h, inout m_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in h_t h) { apply { p.emit(h.io); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
