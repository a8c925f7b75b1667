const point_t p = { x = 1, 2 };
const point_t q = { 1, y = 2 };
