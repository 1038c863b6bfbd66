#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tesela::test {

/// An environment variable as a test wants it, put back afterwards; null: unset.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  void set(const char* value) const { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// While it lives, what starts computes on cores alone: where bits are compared, since GPUs round differently, and
/// which tasks they take is another one's choice.
class CoresAlone {
 private:
  Variable devices_{"STARPU_NCUDA", "0"};
};

/// Runtimes that start while it lives learn run times anew and keep every sample, also those that a loaded machine
/// made long: StarPU would begin again after a few of these.
class Calibration {
 private:
  Variable calibrate_{"STARPU_CALIBRATE", "2"};
  Variable tolerance_{"STARPU_HISTORY_MAX_ERROR", "1000000"};
};

}  // namespace tesela::test
