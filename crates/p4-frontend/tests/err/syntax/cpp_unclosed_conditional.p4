#ifndef GUARD
#define GUARD
const bit<8> a = 1;
