#pragma once

#include "tools/bench/adi/adi_peers.hpp"
#include <tesela/tiles/parallel_for.hpp>

#include <barrier>

namespace tesela::bench {

/// Thomas's method on all cores, without StarPU: each has its columns, then its rows.
template <class T>
class AdiOnCores : public AdiProgram<T> {
 public:
  explicit AdiOnCores(const AdiData<T>& data)
      : AdiProgram<T>("thomas"), data_(&data), u_(data.start()), v_(u_.size()) {}

  void restart() override { u_ = data_->start(); }
  void advance(index_t steps) override {
    const index_t n = data_->n(), team = all_cores();
    std::barrier all(team);
    parallel_for(team, [&](index_t mine) {
      const index_t first = mine * n / team, last = (mine + 1) * n / team;
      for (index_t step = 0; step < steps; ++step) {
        along_x(first, last);
        all.arrive_and_wait();
        along_y(first, last);
        all.arrive_and_wait();
      }
    });
  }
  std::vector<T> u() const override { return u_; }

 protected:
  /// Columns first … last - 1 of v = (I - c dx²)^-1 (I + c dy²) u.
  virtual void along_x(index_t first, index_t last) = 0;
  /// Rows first … last - 1 of u = (I - c dy²)^-1 (I + c dx²) v, side by side down each column.
  virtual void along_y(index_t first, index_t last) = 0;

  const AdiData<T>* data_;
  std::vector<T> u_, v_;
};

}  // namespace tesela::bench
