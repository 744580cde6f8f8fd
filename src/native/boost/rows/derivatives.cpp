#include "boost/rows/derivatives.hpp"

#include <algorithm>
#include <numeric>

#include "boost/rows/draws.hpp"

namespace gatewise::boost {
namespace {

Scored::Largest largest_of(const std::vector<Scored::Largest>& chunks, size_t n) {
  Scored::Largest all{0.0f, 0.0f};
  for (size_t i = 0; i < n; ++i) all = {std::max(all.first, chunks[i].first), std::max(all.second, chunks[i].second)};
  return all;
}

size_t count_sums(size_t n_scores, const Settings& settings) {
  const size_t n_active = std::min<size_t>(n_scores, settings.max_scores);
  return settings.n_sketches > 0 ? std::min<size_t>(n_active, settings.n_sketches) : n_active;
}

}  // namespace

Derivatives::Derivatives(size_t n_rows, size_t n_scores, const Settings& settings, Pool& pool)
    : n_scores_(n_scores),
      n_sums_(count_sums(n_scores, settings)),
      wanted_l2_(settings.l2),
      pool_(pool),
      first_(n_rows * n_scores),
      second_(n_rows * n_scores),
      largest_(count_chunks(n_rows)),
      squares_(count_chunks(n_rows) * n_scores),
      order_(n_scores),
      active_(std::min<size_t>(n_scores, settings.max_scores)),
      signs_(n_scores * n_sums_),
      sketches_(is_sketched() ? n_rows * n_sums_ : 0),
      curves_(is_sketched() ? n_rows : 0),
      sums_(n_rows * n_sums_),
      cell_sums_(pool.threads() * (active_.size() << settings.n_questions)) {}

void Derivatives::take(const Scored& rows, const Window& window, size_t term) noexcept {
  for_chunks(pool_, window.n, [&](size_t, size_t chunk, size_t from, size_t to) noexcept {
    Scored::Largest largest{0.0f, 0.0f};
    window.for_parts(from, to, [&](size_t row, size_t at, size_t n) {
      const auto part = rows.differentiate(row, n, first_.data() + at * n_scores_, second_.data() + at * n_scores_);
      largest = {std::max(largest.first, part.first), std::max(largest.second, part.second)};
    });
    largest_[chunk] = largest;
  });
  const Scored::Largest largest = largest_of(largest_, count_chunks(window.n));
  scale_ = Scale(largest.first, largest.second, window.n);
  find_active(window.n);
  if (is_sketched())
    sketch(window.n, term);
  else
    round(window.n);
}

void Derivatives::find_active(size_t n_rows) {
  std::iota(active_.begin(), active_.end(), 0);
  if (active_.size() == n_scores_) return;
  for_chunks(pool_, n_rows, [&](size_t, size_t chunk, size_t from, size_t to) noexcept {
    double* squares = squares_.data() + chunk * n_scores_;
    std::fill_n(squares, n_scores_, 0.0);
    for (size_t i = from; i < to; ++i)
      for (size_t k = 0; k < n_scores_; ++k)
        squares[k] += double{first_[i * n_scores_ + k]} * first_[i * n_scores_ + k];
  });
  for (size_t i = n_scores_; i < count_chunks(n_rows) * n_scores_; ++i) squares_[i % n_scores_] += squares_[i];
  std::iota(order_.begin(), order_.end(), 0);
  std::partial_sort(order_.begin(), order_.begin() + active_.size(), order_.end(), [&](uint32_t i, uint32_t k) {
    return squares_[i] != squares_[k] ? squares_[i] > squares_[k] : i < k;
  });
  std::copy_n(order_.begin(), active_.size(), active_.begin());
  std::sort(active_.begin(), active_.end());
}

void Derivatives::round(size_t n_rows) {
  l2_ = scale_.units_of(wanted_l2_);
  for_chunks(pool_, n_rows, [&](size_t, size_t, size_t from, size_t to) noexcept {
    if (n_sums_ == n_scores_) {
      for (size_t i = from * n_sums_; i < to * n_sums_; ++i) sums_[i] = scale_.round(first_[i], second_[i]);
      return;
    }
    for (size_t i = from; i < to; ++i)
      for (size_t k = 0; k < n_sums_; ++k)
        sums_[i * n_sums_ + k] = scale_.round(first_[i * n_scores_ + active_[k]], second_[i * n_scores_ + active_[k]]);
  });
}

void Derivatives::sketch(size_t n_rows, size_t term) {
  for (size_t i = 0; i < signs_.size(); ++i) signs_[i] = draw(term, i) < 0.5f ? 1.0f : -1.0f;
  for_chunks(pool_, n_rows, [&](size_t, size_t chunk, size_t from, size_t to) noexcept {
    Scored::Largest largest{0.0f, 0.0f};
    for (size_t i = from; i < to; ++i) {
      float* sketch = sketches_.data() + i * n_sums_;
      std::fill_n(sketch, n_sums_, 0.0f);
      float curve = 0.0f;
      for (size_t k = 0; k < n_scores_; ++k) {
        const float slope = first_[i * n_scores_ + k];
        for (size_t s = 0; s < n_sums_; ++s) sketch[s] += slope * signs_[k * n_sums_ + s];
        curve += second_[i * n_scores_ + k];
      }
      for (size_t s = 0; s < n_sums_; ++s) largest.first = std::max(largest.first, std::abs(sketch[s]));
      largest.second = std::max(largest.second, curves_[i] = curve);
    }
    largest_[chunk] = largest;
  });
  const Scored::Largest largest = largest_of(largest_, count_chunks(n_rows));
  const Scale scale(largest.first, largest.second, n_rows);
  l2_ = scale.units_of(wanted_l2_);
  for_chunks(pool_, n_rows, [&](size_t, size_t, size_t from, size_t to) noexcept {
    for (size_t i = from; i < to; ++i)
      for (size_t s = 0; s < n_sums_; ++s) sums_[i * n_sums_ + s] = scale.round(sketches_[i * n_sums_ + s], curves_[i]);
  });
}

void Derivatives::sum_cells(const uint8_t* cells, const Window& window, std::vector<Sum>& to) noexcept {
  const size_t n_active = active_.size();
  std::fill(cell_sums_.begin(), cell_sums_.end(), 0);
  for_chunks(pool_, window.n, [&](size_t thread, size_t, size_t from, size_t end) noexcept {
    Sum* sums = cell_sums_.data() + thread * to.size();
    window.for_parts(from, end, [&](size_t row, size_t at, size_t n) {
      for (size_t i = 0; i < n; ++i) {
        Sum* of_cell = sums + cells[row + i] * n_active;
        if (!is_sketched()) {
          for (size_t k = 0; k < n_active; ++k) of_cell[k] += sums_[(at + i) * n_active + k];
          continue;
        }
        const float *first = first_.data() + (at + i) * n_scores_, *second = second_.data() + (at + i) * n_scores_;
        if (n_active == n_scores_)
          for (size_t k = 0; k < n_active; ++k) of_cell[k] += scale_.round(first[k], second[k]);
        else
          for (size_t k = 0; k < n_active; ++k) of_cell[k] += scale_.round(first[active_[k]], second[active_[k]]);
      }
    });
  });
  std::copy_n(cell_sums_.begin(), to.size(), to.begin());
  for (size_t i = to.size(); i < cell_sums_.size(); ++i) to[i % to.size()] += cell_sums_[i];
}

}  // namespace gatewise::boost
