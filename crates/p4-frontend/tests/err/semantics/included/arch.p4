// A small architecture: what programs here are instantiated for.
#include <core.p4>

enum Kind { packets, octets }
extern Tally<I> { Tally(bit<32> size, Kind kind); void count(in I index); bit<32> read(in I index); }
extern DirectTally { DirectTally(); void count(); }
extern Unit { Unit(); bit<16> get<D>(in D data); }
extern void note<T>(string text, in T data);
extern void pick<T>(out T result, in T low, in T high);

struct intrinsic_t { bit<9> port; bit<9> to; error problem; }

parser Parse<H>(packet_in packet, out H hdr, inout intrinsic_t intrinsic);
control Pipe<H>(inout H hdr, inout intrinsic_t intrinsic);
control Deparse<H>(packet_out packet, in H hdr);
package Device<H>(Parse<H> parse, Pipe<H> pipe, Deparse<H> deparse);
