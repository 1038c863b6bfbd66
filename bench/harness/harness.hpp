#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/paused_workers.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tesela::bench {

/// A peer computed something else than it was asked to: its time would mean nothing.
class WrongResult : public Error {
 public:
  using Error::Error;
};

/// One way to do the work that a benchmark compares.
struct Peer {
  std::string name;
  std::function<double()> run;          ///< does it once and answers the seconds it took, set-up left out
  std::function<double()> verify = {};  ///< does it once, checks the result, answers its error relative to the bound
};

/// What one peer took.
struct Timing {
  std::string peer;
  std::vector<double> seconds;  ///< of each timed run
  double error = 0;             ///< what Peer::verify answered: at most 1
  double median() const;
  double min() const;
  double max() const;
};

/// Warms every peer up (verify, then run), then runs them in turn, A B C A B C …, `repeat` times each. Throws
/// WrongResult when a peer's result is wrong and Cancelled after Ctrl-C.
std::vector<Timing> alternate(const std::vector<Peer>& peers, int repeat);

/// The seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Waits until the threads of the run before have gone to sleep: OpenBLAS's spin for some 30 ms after a call.
void settle();

/// The most that the cores do, measured now: GB/s of a copy within host memory by all of them, read and written bytes
/// counted.
double host_copy_ceiling();

}  // namespace tesela::bench
