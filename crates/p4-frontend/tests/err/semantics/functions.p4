bit<8> none(in bit<8> x) { if (x == 0) { return 1; } }
void some(in bit<8> x) { return x; }
bit<8> wrong(in bit<8> x) { return true; }
bit<8> nothing() { return; }
bit<8> leaves() { exit; }
bit<8> jumps(in bit<8> x) { break; return x; }
action plain() { continue; }
bit<8> itself(in bit<8> x) { return itself(x); }
