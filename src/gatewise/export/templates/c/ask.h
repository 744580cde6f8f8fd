/* Doubles are compared two or four at a time where words are as long: comparing makes the masks that are wanted. */
#if defined(__GNUC__) && MODEL_LANES == 64 && MODEL_VALUE_IS_DOUBLE
#ifdef __AVX__
#define VECTOR 4
#else
#define VECTOR 2
#endif
typedef double doubles __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));
typedef uint64_t masks __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));
#define ASK_VECTORS(op)                                 \
  for (; i + VECTOR <= n; i += VECTOR) {                \
    const doubles u = *(const doubles *)(t + i);        \
    *(masks *)(w + i) = (masks)(x - (doubles){0} op u); \
  }
#else
#define ASK_VECTORS(op)
#endif

#define DEFINE_ASK(name, op)                                                                    \
  static void name(const model_value x, const model_value *t, const int32_t n, model_word *w) { \
    int32_t i = 0;                                                                              \
    ASK_VECTORS(op)                                                                             \
    for (; i < n; ++i) w[i] = MASK(x op t[i]);                                                  \
  }
DEFINE_ASK(ask_greater, >)
DEFINE_ASK(ask_equal, ==)
