// What declared types are over, and what they hold.
enum int<8> small { most = 127, too_much = 128, least = -128, too_little = -129 }
enum bit<4> nibble { most = 15, too_much = 16, negative = -1 }
type nibble named_nibble;
type bit<4> base_t;
type base_t over_base_t;
struct text_t { string text; }
const tuple<bit<8>, string> pair = { 1, "a" };
