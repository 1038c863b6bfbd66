#pragma once

#include <tesela/runtime/energy.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/paused_workers.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// A peer computed something else than it was asked to: its time would mean nothing.
class WrongResult : public Error {
 public:
  using Error::Error;
};

/// Memory that a peer needs and does not get.
class NoRoom : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// One way to do the work that a benchmark compares.
struct Peer {
  std::string name;
  std::function<double()> run;          ///< does it once and answers the seconds it took, set-up left out
  std::function<double()> verify = {};  ///< does it once, checks the result, answers its error relative to the bound
  /// The seconds of verify's own run, where it says them: a long one counts as the first of the timed runs.
  std::shared_ptr<double> verified_seconds = {};
  std::string absent = {};  ///< why it does not run, such as "no room"
};

/// The peer of a run, and of what checks its result.
template <class Run, class Check>
Peer checked(const std::string& name, const Run& run, const Check& check) {
  const auto seconds = std::make_shared<double>(0);
  return {name, run,
          [run, check, seconds] {
            *seconds = run();
            return check();
          },
          seconds};
}

/// What one peer took.
struct Timing {
  std::string peer;
  std::vector<double> seconds;  ///< of each timed run
  double error = 0;             ///< what Peer::verify answered: at most 1
  std::string remark = {};      ///< why there are no seconds, or that nothing was checked
  Energy energy = {};           ///< of a timed run, in the mean, where an EnergyScope lives
  double median() const;
  double min() const;
  double max() const;
};

/// Warms every peer up (verify, then run), then runs them in turn, A B C A B C …, `repeat` times each. A verified run
/// of more than 20 seconds needs no second one to warm up, and is timed. Throws WrongResult when a peer's result is
/// wrong and Cancelled after Ctrl-C.
std::vector<Timing> alternate(const std::vector<Peer>& peers, int repeat);

/// While it lives, seconds_of counts these GPUs' and the processors' joules as well, for alternate(). One at a time.
class EnergyScope {
 public:
  explicit EnergyScope(const std::vector<int>& gpus);
  ~EnergyScope();
  EnergyScope(const EnergyScope&) = delete;
  EnergyScope& operator=(const EnergyScope&) = delete;
  /// Null where none lives.
  static EnergyMeter* meter();

 private:
  EnergyMeter meter_;
};

/// The seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
  EnergyMeter* const meter = EnergyScope::meter();
  if (meter != nullptr) meter->resume();
  const auto start = std::chrono::steady_clock::now();
  f();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (meter != nullptr) meter->pause();
  return seconds;
}

/// Waits until the threads of the run before have gone to sleep: OpenBLAS's spin for some 30 ms after a call.
void settle();

/// The most that the cores do, measured now: GB/s of a copy within host memory by all of them, read and written bytes
/// counted.
double host_copy_ceiling();

}  // namespace tesela::bench
