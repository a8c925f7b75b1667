// Type arguments, `_` among them, and values without a default.
struct box_t<T> { T value; }
struct twice_t<T> { box_t<box_t<T>> inner; }
extern Keeper<T> { Keeper(); void keep(in T value); }
Keeper<Keeper<bit<8>>>() nested;
parser Any<T>(in T value);
box_t<Any<bit<8>>> boxed() { return ...; }
const box_t<_> open = { value = 1 };
extern Listing { Listing(list<bit<8>> of = ...); }
extern Sized<T> { Sized(T first); }
Sized(8w1) with_width;
Sized(1) without_width;
struct outer_t { match_kind kind; }
const tuple<bit<8>, list<bit<8>>> part = { 1, ... };

control Take<H, M>(inout H hdr, inout M meta);
control Given<H>(inout H hdr, inout bit<8> meta) { apply { } }
package Parts<H, M>(Take<H, M> take = Given<H>());
Parts() undecided;
Parts<bit<16>, _>() decided;
