// An error here.
const bit<8> c = ;
