enum Color { red; green }
enum bit<8> Number { one = 1 two = 2 }
error { Bad Worse }
