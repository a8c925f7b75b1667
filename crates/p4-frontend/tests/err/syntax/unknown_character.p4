const bit<8> a = 1 $ 2;
const string s = 'text';
const bit<8> größe = 1;
