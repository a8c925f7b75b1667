const bit<8> a = ;
