#endif
#else
#elif 1
#if 1
#else
#elif 1
#else
#endif
#ifdef
#endif
#if 1 +
#endif
#if (1
#endif
#if 1 / 0
#endif
#if 1 2
#endif
