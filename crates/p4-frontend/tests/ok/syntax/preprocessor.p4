#ifndef GUARD
#define GUARD
# define VALUE (1 + \
                2)
#define CALL(x, y) x + y
#define NAME(x) name_ ## x
#define TEXT(x) #x
#define STRING(x) TEXT(x)
#define KEYWORD const
#include <core.p4>
#include <v1model.p4>
#include "included/guarded.p4" // once
#include "included/guarded.p4"
#if defined(VALUE) && !defined MISSING && (VALUE == 3 ? 1 : 0)
KEYWORD bit<8> NAME(a) = VALUE;
#elif 1
it's skipped, whatever "it is
#else
so is this
#if 1
#else
#endif
#endif
const bit<8> b = CALL(
    CALL(1, 2), /* over
    lines */ (f(3, 4)));
const string c = STRING(VALUE);
#undef VALUE
#ifdef VALUE
#error not here
#endif
#line 7
#
#else
#endif
