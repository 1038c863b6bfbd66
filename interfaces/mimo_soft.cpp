// Not in C: its interface has no batches of complex numbers yet.
#ifdef TESELA_PYTHON
#include "interfaces/python/signals.hpp"
#include <tesela/algorithms/mimo/mimo_soft.hpp>

namespace tesela::python {
namespace {

struct SoftResult {
  AnyArray llrs, nodes;
  index_t failed = 0;
};

SoftResult soft(const ArrayLike& h, const ArrayLike& y, nb::handle constellation, double n0, const std::string& kind,
                double clip, const std::string& order, const ArrayLike& priors_given, const std::string& layout) {
  const Signals signals(h, y, layout);
  const auto alphabets = constellations_of(constellation, signals.shape().streams);
  SoftOptions options;
  choice("kind", soft_kinds(), kind);
  parse_soft_kind("mimo_soft", kind, options);
  options.order = choice("order", column_orders(), order);
  options.n0 = n0;
  options.clip = clip;
  std::optional<Argument> priors;
  if (!priors_given.is_none()) priors.emplace("priors", priors_given);
  if (priors && priors->place().on_device()) throw nb::type_error("priors are on a GPU; mimo_soft needs NumPy arrays");
  const auto with = [&]<class T>(T) {
    const auto H = signals.h<T>(), Y = signals.y<T>();
    auto found = with_workers([&](const c::Session& session) {
      Graph g(session);
      return mimo_soft(g, signals.shape(), H, Y, alphabets, options,
                       !priors                  ? HostMatrix<T>()
                       : signals.signals_rows() ? Columns<T>::on_host(priors->transposed()).copy()
                                                : Columns<T>::on_host(*priors).copy());
    });
    SoftResult result;
    result.failed = found.failed();
    result.nodes = to_python(found.nodes);
    result.llrs = of_signals(signals, std::move(found.llrs));
    return result;
  };
  SoftResult result = in_precision_of(signals, with);
  if (result.failed > 0)
    raise_lin_alg_error("mimo_soft: " + std::to_string(result.failed) + " signals have no answer", "no answer",
                        nb::cast(result));
  return result;
}

const Part part([](nb::module_& m) {
  ResultClass<SoftResult>(m, "SoftResult", "Result of `mimo_soft`.")
      .member("llrs", &SoftResult::llrs,
              "(bits, signals) or (signals, bits) as y, for one signal (bits,): ln P(bit is 0) / P(bit is 1), by "
              "streams, a label's most "
              "significant bit first.")
      .member("nodes", &SoftResult::nodes, "Nodes that each signal's search visited; negative without an answer.")
      .member("failed", &SoftResult::failed, "Signals without an answer, whose bits are 0.")
      .prints({"failed"});
  m.def("mimo_soft", soft, "h"_a, "y"_a, "constellation"_a, "n0"_a, nb::kw_only(), "kind"_a = "sts", "clip"_a = 0.0,
        "order"_a = "mmse-vblast", "priors"_a = nb::none(), "layout"_a = "auto",
        R"(Compute the log-likelihood ratio of each bit that several streams sent.

Parameters
----------
h, y, constellation
    As in `mimo_detect`.
n0 : float
    Variance of the noise, above 0.
kind : str
    'sts' is exact max-log by a tree search; 'max-log' and 'app' enumerate all vectors; 'list:64', 'kbest:16', 'nway',
    'ep' (expectation propagation) and 'mmse' examine fewer.
clip : float
    Largest |L|; 0: no limit. List methods need a limit if a list may lack one value of a bit.
order : str
    Order in which the search decides the streams.
priors : array, optional
    Log-likelihood ratios of the bits known in advance, shaped as the result.
layout : str
    As in `mimo_detect`.

Returns
-------
SoftResult

Raises
------
numpy.linalg.LinAlgError
    If a signal has no answer; its attribute `result` has the other signals' ratios.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.mimo_soft(np.eye(1), np.array([0.5 - 0.25j]), "qpsk", 0.5).llrs.round(6)
array([ 2.828427, -1.414214])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
