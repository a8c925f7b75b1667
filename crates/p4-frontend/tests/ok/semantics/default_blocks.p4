// A package's type parameters follow from its default blocks, too.
#include <core.p4>
header byte_h { bit<8> x; }
struct headers_t { byte_h byte; }
parser Take(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.byte); transition accept; }
}
control Change<H>(inout H hdr, inout bit<8> count) { apply { count = count + 1; } }
parser TakeType<H>(packet_in packet, out H hdr);
control ChangeType<H, M>(inout H hdr, inout M meta);
package Parts<H, M>(TakeType<H> take, ChangeType<H, M> change = Change<H>());
Parts(Take()) main;
