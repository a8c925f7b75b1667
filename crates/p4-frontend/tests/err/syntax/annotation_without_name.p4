@ ("x")
const bit<8> a = 1;
@name("x"
const bit<8> b = 1;
