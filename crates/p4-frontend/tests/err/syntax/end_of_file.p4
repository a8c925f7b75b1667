const bit<8> a = 1;

bit<8>

