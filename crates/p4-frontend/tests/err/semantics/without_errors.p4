// Nothing declares an error here, so that the type has no values.
struct seen_t { error first; error second; }
