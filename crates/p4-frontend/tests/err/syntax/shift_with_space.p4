const bit<8> a = 8 > > 1;
