bit<8> same(bit<8> x) { return x; }
