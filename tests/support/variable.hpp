#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tesela::test {

/// Sets an environment variable while it lives; null: unset.
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

/// While it lives, new runtimes and commands use only cores. For comparisons of bits: GPUs round differently, and the
/// scheduler decides which tasks they run.
class CoresOnly {
 private:
  Variable devices_{"STARPU_NCUDA", "0"};
};

/// While it lives, new runtimes measure run times again and keep every sample. StarPU would start again after several
/// samples that a loaded machine has made long.
class Calibration {
 private:
  Variable calibrate_{"STARPU_CALIBRATE", "2"};
  Variable tolerance_{"STARPU_HISTORY_MAX_ERROR", "1000000"};
};

}  // namespace tesela::test
