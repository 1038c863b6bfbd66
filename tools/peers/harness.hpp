#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/energy.hpp>
#include <tesela/runtime/paused_workers.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// A peer computed a wrong result, so its time is meaningless.
class WrongResult : public Error {
 public:
  using Error::Error;
};

/// A peer needs more memory than is available.
class OutOfDeviceMemory : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// One method that a benchmark compares.
struct Peer {
  std::string name;
  std::function<double()> run;          ///< runs once and returns its seconds without set-up
  std::function<double()> verify = {};  ///< runs once, checks the result, and returns its error relative to the bound
  /// Seconds of verify's run, if it reports them: a long one counts as the first timed run.
  std::shared_ptr<double> verified_seconds = {};
  std::string absent = {};  ///< the reason why it does not run, such as "no room"
};

/// Returns the peer for a run and a check of its result.
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

/// Measurements of one peer.
struct Timing {
  std::string peer;
  std::vector<double> seconds;  ///< of each timed run
  double error = 0;             ///< result of Peer::verify, at most 1
  std::string remark = {};      ///< why there are no seconds, or that nothing was checked
  Energy energy = {};           ///< mean of a timed run, if an EnergyScope exists
  double median() const;
  double min() const;
  double max() const;
};

/// Warms every peer up (verify, then run), then runs them in turn, A B C A B C …, `repeat` times each. A verified run
/// of more than 20 s replaces the warm-up and is timed. Throws WrongResult if a peer's result is wrong and Cancelled
/// after Ctrl-C.
std::vector<Timing> alternate(const std::vector<Peer>& peers, int repeat);

/// While it lives, seconds_of() also counts the energy of these GPUs and the processors, for alternate(). Only one may
/// exist.
class EnergyScope {
 public:
  explicit EnergyScope(const std::vector<int>& gpus);
  ~EnergyScope();
  EnergyScope(const EnergyScope&) = delete;
  EnergyScope& operator=(const EnergyScope&) = delete;
  /// Null if none exists.
  static EnergyMeter* meter();

 private:
  EnergyMeter meter_;
};

/// Returns the seconds that f() takes.
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

/// Waits until the threads of the previous run sleep: OpenBLAS's spin for about 30 ms after a call.
void wait_for_idle_threads();

/// Returns the seconds of f() after prepare() and a wait for idle threads.
template <class Prepare, class F>
double seconds_after(const Prepare& prepare, const F& f) {
  prepare();
  wait_for_idle_threads();
  return seconds_of(f);
}

/// Peak copy rate of the cores, measured now: GB/s of a copy within host memory by all of them, with read and written
/// bytes counted.
double host_copy_ceiling();

}  // namespace tesela::bench
