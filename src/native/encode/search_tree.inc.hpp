// Ranks of 64 values among a column's constants, a byte each: all values descend the tree of a Ranking together.
#pragma once

#include "encode/kernels.hpp"
#include "simd/words.hpp"

namespace gatewise {
namespace {

#if defined(GATEWISE_AVX512)

template <Question Asked>
constexpr int kFloatTest = Asked == Question::kGreater ? _CMP_GT_OQ
                           : Asked == Question::kEqual ? _CMP_EQ_OQ
                                                       : _CMP_UNORD_Q;
template <Question Asked>
constexpr int kIntTest = Asked == Question::kGreater ? _MM_CMPINT_NLE : _MM_CMPINT_EQ;

// Answers for a vector of values, whose type the last argument has.
template <Question Asked>
inline uint64_t compare(__m512i x, __m512i constants, float) {
  return _mm512_cmp_ps_mask(_mm512_castsi512_ps(x), _mm512_castsi512_ps(constants), kFloatTest<Asked>);
}
template <Question Asked>
inline uint64_t compare(__m512i x, __m512i constants, double) {
  return _mm512_cmp_pd_mask(_mm512_castsi512_pd(x), _mm512_castsi512_pd(constants), kFloatTest<Asked>);
}
template <Question Asked>
inline uint64_t compare(__m512i x, __m512i constants, uint8_t) {
  return _mm512_cmp_epu8_mask(x, constants, kIntTest<Asked>);
}
template <Question Asked>
inline uint64_t compare(__m512i x, __m512i constants, int32_t) {
  return _mm512_cmp_epi32_mask(x, constants, kIntTest<Asked>);
}
template <Question Asked>
inline uint64_t compare(__m512i x, __m512i constants, int64_t) {
  return _mm512_cmp_epi64_mask(x, constants, kIntTest<Asked>);
}

// A vector of values in the type of constants.
template <Question Asked, typename Value>
inline __m512i load_as(const Value* x, Value) {
  return _mm512_loadu_si512(x);
}
template <Question Asked>
inline __m256 narrow(__m512d x) {
  if constexpr (Asked == Question::kGreater) return _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  const __m256 nearest = _mm512_cvtpd_ps(x);
  const __mmask8 kept = _mm512_cmp_pd_mask(_mm512_cvtps_pd(nearest), x, _CMP_EQ_OQ);
  return _mm256_mask_mov_ps(_mm256_set1_ps(__builtin_nanf("")), kept, nearest);
}
template <Question Asked>
inline __m512i load_as(const double* x, float) {
  const __m256 low = narrow<Asked>(_mm512_loadu_pd(x)), high = narrow<Asked>(_mm512_loadu_pd(x + 8));
  return _mm512_castps_si512(_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1));
}
template <Question Asked>
inline __m512i load_as(const int64_t* x, int32_t) {
  const __m256i low = _mm512_cvtsepi64_epi32(_mm512_loadu_si512(x));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), _mm512_cvtsepi64_epi32(_mm512_loadu_si512(x + 8)), 1);
}

// entries[at] for every lane, from as many vectors of entries; no digit of `at` above what they need is read.
template <size_t Vectors, typename Constant>
inline __m512i look_up(const Constant* entries, __m512i at) {
  constexpr size_t half = Vectors * 32 / sizeof(Constant);
  constexpr bool is_short = sizeof(Constant) == 4;
  const __m512i first = _mm512_loadu_si512(entries);
  if constexpr (Vectors == 1)
    return is_short ? _mm512_permutexvar_epi32(at, first) : _mm512_permutexvar_epi64(at, first);
  if constexpr (Vectors == 2) {
    const __m512i second = _mm512_loadu_si512(entries + half);
    return is_short ? _mm512_permutex2var_epi32(first, at, second) : _mm512_permutex2var_epi64(first, at, second);
  }
  if constexpr (Vectors > 2) {
    const __m512i low = look_up<Vectors / 2>(entries, at), high = look_up<Vectors / 2>(entries + half, at);
    if constexpr (is_short)
      return _mm512_mask_mov_epi32(low, _mm512_test_epi32_mask(at, _mm512_set1_epi32(half)), high);
    return _mm512_mask_mov_epi64(low, _mm512_test_epi64_mask(at, _mm512_set1_epi64(half)), high);
  }
}

// 64 values and where they are in the tree, in the type of its constants.
template <typename Constant>
struct Search {
  static constexpr int kLanes = 64 / sizeof(Constant), kVectors = 64 / kLanes;
  __m512i x[kVectors], at[kVectors];

  // To the children: left is 2 at, right 2 at + 1.
  template <size_t Vectors>
  void descend(const Constant* entries) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto right = compare<Question::kGreater>(x[v], look_up<Vectors>(entries, at[v]), Constant{});
      if constexpr (sizeof(Constant) == 4) {
        at[v] = _mm512_add_epi32(at[v], at[v]);
        at[v] = _mm512_mask_sub_epi32(at[v], static_cast<__mmask16>(right), at[v], _mm512_set1_epi32(-1));
      } else {
        at[v] = _mm512_add_epi64(at[v], at[v]);
        at[v] = _mm512_mask_sub_epi64(at[v], static_cast<__mmask8>(right), at[v], _mm512_set1_epi64(-1));
      }
    }
  }

  // 0 where the leaf is not the value.
  template <size_t Vectors>
  void match(const Constant* entries) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto same = compare<Question::kEqual>(x[v], look_up<Vectors>(entries, at[v]), Constant{});
      at[v] = sizeof(Constant) == 4 ? _mm512_maskz_mov_epi32(static_cast<__mmask16>(same), at[v])
                                    : _mm512_maskz_mov_epi64(static_cast<__mmask8>(same), at[v]);
    }
  }

  void store(uint8_t* ranks) const {
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (sizeof(Constant) == 4) {
        const __m128i bytes = _mm512_cvtepi32_epi8(at[v]);
        std::memcpy(ranks + kLanes * v, &bytes, 16);
      } else {
        const __m128i bytes = _mm512_cvtepi64_epi8(at[v]);
        std::memcpy(ranks + kLanes * v, &bytes, 8);
      }
    }
  }
};

// One row of the tree for all values; short rows share the tree's first vector.
template <Question Asked, typename Constant>
inline void visit(Search<Constant>& search, const Constant* tree, unsigned row) {
  constexpr unsigned lanes = Search<Constant>::kLanes;
  const auto step = [&]<size_t Vectors>(const Constant* entries) {
    Asked == Question::kGreater ? search.template descend<Vectors>(entries) : search.template match<Vectors>(entries);
  };
  const unsigned n = 1u << row;
  if (n < lanes) return step.template operator()<1>(tree);
  if (n == lanes) return step.template operator()<1>(tree + n);
  if (n == 2 * lanes) return step.template operator()<2>(tree + n);
  if (n == 4 * lanes) return step.template operator()<4>(tree + n);
  step.template operator()<8>(tree + n);
}

template <Question Asked, typename Constant, typename Value>
inline void find_ranks(const Value* x, const Constant* tree, unsigned depth, uint8_t* ranks) {
  Search<Constant> search;
  for (int v = 0; v < Search<Constant>::kVectors; ++v) {
    search.x[v] = load_as<Asked>(x + Search<Constant>::kLanes * v, Constant{});
    search.at[v] = sizeof(Constant) == 4 ? _mm512_set1_epi32(1) : _mm512_set1_epi64(1);
  }
  for (unsigned row = 0; row < depth; ++row) visit<Question::kGreater>(search, tree, row);
  if constexpr (Asked == Question::kEqual) visit<Asked>(search, tree, depth);
  search.store(ranks);
}

template <typename Constant, typename Value>
inline void rank_words(const Value* x, size_t n_words, const uint8_t* trees, const Ranking& ranking, uint8_t* ranks) {
  const Constant* tree = reinterpret_cast<const Constant*>(trees + ranking.tree);
  for (size_t w = 0; w < n_words; ++w)
    if (ranking.question == Question::kGreater)
      find_ranks<Question::kGreater>(x + 64 * w, tree, ranking.depth, ranks + 64 * w);
    else
      find_ranks<Question::kEqual>(x + 64 * w, tree, ranking.depth, ranks + 64 * w);
}

// The ranks of a column's values.
template <typename Value>
inline void rank_column(const Value* x, size_t n_words, const uint8_t* trees, const Ranking& ranking, uint8_t* ranks) {
  if constexpr (sizeof(Value) == 4) rank_words<Value>(x, n_words, trees, ranking, ranks);
  if constexpr (sizeof(Value) == 8) {
    if (!ranking.narrow) return rank_words<Value>(x, n_words, trees, ranking, ranks);
    rank_words<typename NarrowType<Value>::type>(x, n_words, trees, ranking, ranks);
  }
}

constexpr size_t kMinRanked = 9;

#else

constexpr size_t kMinRanked = 0;

template <typename Value>
inline void rank_column(const Value*, size_t, const uint8_t*, const Ranking&, uint8_t*) {}

#endif

}  // namespace
}  // namespace gatewise
