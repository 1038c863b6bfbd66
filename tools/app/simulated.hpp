#pragma once

namespace tesela::cli {

/// The end of a simulated command, after its report: nothing follows the timed runs.
struct Simulated {
  int code;
};

}  // namespace tesela::cli
