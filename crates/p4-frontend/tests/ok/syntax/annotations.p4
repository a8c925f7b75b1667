@plain
@text("one" ++ "two")
@free(any ( tokens [ here ] ) that's fine, 12 : $)
@list[1, "two", true, 1 == 2,]
@pairs[a = 1, b = "two"]
@empty[]
@table
@pragma line with "text" and 12
@pragma bare
const bit<8> a = 1;
#pragma once upon a time
