"""MIMO detection compared with an enumeration of all candidates."""

import itertools

import numpy as np
import pytest

import tesela

KNOWN = {"bpsk": 1, "pi/2-bpsk": 1, "qpsk": 2, "8psk": 3, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
QPSK = np.array([1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j]) / np.sqrt(2)


def problem(seed, antennas=3, streams=2, signals=20, channels=None, noise=0.3, dtype=complex):
    g = np.random.default_rng(seed)

    def normal(*shape):
        return (g.standard_normal(shape) + 1j * g.standard_normal(shape)) / np.sqrt(2)

    h = normal(*([channels] if channels else []), antennas, streams).astype(dtype)
    sent = g.integers(0, 4, (streams, signals))
    each = h[np.arange(signals) // -(-signals // channels)] if channels else np.broadcast_to(h, (signals, antennas, streams))
    y = np.einsum("kij,jk->ik", each, QPSK[sent]) + noise * normal(antennas, signals)
    return h, y.astype(dtype), sent, each


def nearest(each, y):
    """Returns the labels of all nearest vectors and their distance."""
    labels = np.array(list(itertools.product(range(4), repeat=each.shape[2]))).T
    distances = np.linalg.norm(y.T[:, :, None] - each @ QPSK[labels], axis=1)
    best = distances.argmin(axis=1)
    return labels[:, best], distances.min(axis=1)


@pytest.mark.parametrize("channels", [None, 1, 5, 20])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_the_nearest_vector_is_found(channels, dtype):
    h, y, _, each = problem(1, channels=channels, dtype=dtype)
    found = tesela.mimo_detect(h, y, "qpsk", n0=0.09)
    labels, distances = nearest(each, y)
    assert (found.labels == labels).all()
    assert np.allclose(found.distances, distances, atol=1e-5)
    assert found.uncertified == found.failed == 0 and (found.nodes > 0).all()
    own_points = tesela.mimo_detect(h, y, QPSK)
    assert (own_points.labels == labels).all()
    mixed = tesela.mimo_detect(h, y, ["qpsk", QPSK])
    assert (mixed.labels == labels).all()


@pytest.mark.parametrize("method", ["zf", "mmse", "mmse-sic", "babai", "kbest:4", "nway", "ep", "brute"])
def test_methods_are_right_without_noise(method):
    h, y, sent, _ = problem(2, noise=0)
    assert (tesela.mimo_detect(h, y, "qpsk", method=method, n0=1e-6).labels == sent).all()


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_points_and_bits_have_the_layout_of_y(dtype):
    h, y, sent, _ = problem(2, noise=0, dtype=dtype)
    found = tesela.mimo_detect(h, y, "qpsk")
    assert found.points.shape == sent.shape and found.points.dtype == dtype
    assert np.allclose(found.points, QPSK[sent]) and np.allclose(h @ found.points, y, atol=1e-5)
    bits = np.stack([sent >> 1, sent & 1], axis=1).reshape(-1, sent.shape[1])
    assert (found.bits == bits).all() and (found.bits == (tesela.mimo_soft(h, y, "qpsk", 0.1).llrs < 0)).all()
    rows = tesela.mimo_detect(h, y.T, "qpsk")
    assert (rows.points == found.points.T).all() and (rows.bits == bits.T).all()
    one = tesela.mimo_detect(h, y[:, 0], "qpsk")
    assert (one.points == found.points[:, 0]).all() and (one.bits == bits[:, 0]).all()


def test_one_signal_is_a_vector():
    h, y, sent, _ = problem(3, noise=0)
    assert (tesela.mimo_detect(h, y[:, 0], "qpsk").labels == sent[:, 0]).all()
    assert tesela.mimo_soft(h, y[:, 0], "qpsk", 0.1).llrs.shape == (4,)
    assert tesela.mimo_detect(h, y[:, :0], "qpsk").labels.shape == (2, 0)


@pytest.mark.parametrize("kind", ["sts", "max-log", "list:16", "nway"])
@pytest.mark.parametrize("priors", [False, True])
def test_log_likelihood_ratios(kind, priors):
    h, y, _, each = problem(4, channels=4)
    n0 = 0.2
    known = np.random.default_rng(5).standard_normal((4, 20)) if priors else None
    found = tesela.mimo_soft(h, y, "qpsk", n0, kind=kind, clip=50, priors=known).llrs
    labels = np.array(list(itertools.product(range(4), repeat=2))).T
    bits = np.array([labels[0] >> 1, labels[0] & 1, labels[1] >> 1, labels[1] & 1])
    cost = np.linalg.norm(y.T[:, :, None] - each @ QPSK[labels], axis=1) ** 2 / n0
    if priors:
        cost = cost + known.T @ bits
    for b, of_bit in enumerate(bits):
        expected = cost[:, of_bit == 1].min(axis=1) - cost[:, of_bit == 0].min(axis=1)
        assert np.allclose(found[b], np.clip(expected, -50, 50), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_bits_by_expectation_propagation(dtype):
    """Compares with the exact marginals of streams in orthogonal columns."""
    h, y, _, _ = problem(6, antennas=4, streams=2, dtype=dtype)
    h = np.linalg.qr(h)[0]
    known = np.random.default_rng(5).standard_normal((4, 20))
    found = tesela.mimo_soft(h, y, "qpsk", 0.3, kind="ep", priors=known).llrs
    x = h.conj().T @ y  # each bit has a separate amplitude
    expected = np.stack([x[0].real, x[0].imag, x[1].real, x[1].imag]) * 4 * np.sqrt(0.5) / 0.3 + known
    assert np.allclose(found, expected, atol=1e-8 if dtype == np.complex128 else 1e-4)


def test_all_terms_of_app():
    h, y, _, each = problem(6)
    labels = np.array(list(itertools.product(range(4), repeat=2))).T
    weight = np.exp(-np.linalg.norm(y.T[:, :, None] - each @ QPSK[labels], axis=1) ** 2 / 0.5)
    zero = labels[0] < 2
    expected = np.log(weight[:, zero].sum(axis=1) / weight[:, ~zero].sum(axis=1))
    assert np.allclose(tesela.mimo_soft(h, y, "qpsk", 0.5, kind="app").llrs[0], expected)


@pytest.mark.parametrize("name", KNOWN)
def test_constellations(name):
    bits = KNOWN[name]
    found = tesela.mimo_soft(np.eye(1), np.zeros((1, 1)), name, 1.0).llrs
    assert found.shape == (bits, 1)


def test_every_second_signal_of_pi2_bpsk_is_turned():
    h, _, _, _ = problem(9, streams=2)
    sent = np.random.default_rng(10).integers(0, 2, (2, 11))
    y = h @ ((1 - 2 * sent) * (1 + 1j) / np.sqrt(2) * 1j ** (np.arange(11) % 2))
    found = tesela.mimo_detect(h, y, "pi/2-bpsk")
    assert (found.labels == sent).all() and np.allclose(h @ found.points, y)
    assert ((tesela.mimo_soft(h, y, "pi/2-bpsk", 0.1).llrs < 0) == sent).all()


@pytest.mark.parametrize("channels", [None, 4])
def test_signals_in_rows(channels):
    h, y, _, _ = problem(11, channels=channels)
    known = np.random.default_rng(12).standard_normal((4, 20))
    labels = tesela.mimo_detect(h, y, "qpsk").labels
    llrs = tesela.mimo_soft(h, y, "qpsk", 0.3, priors=known).llrs
    for layout in ["auto", "signals-rows"]:
        assert (tesela.mimo_detect(h, y.T, "qpsk", layout=layout).labels == labels.T).all()
        assert (tesela.mimo_soft(h, y.T, "qpsk", 0.3, priors=known.T, layout=layout).llrs == llrs.T).all()
    with pytest.raises(ValueError):
        tesela.mimo_soft(h, y.T, "qpsk", 0.3, priors=known)


def test_a_square_y_needs_a_layout():
    h, y, sent, _ = problem(13, signals=3, noise=0)
    with pytest.raises(ValueError, match="signals may be columns or rows; set layout="):
        tesela.mimo_detect(h, y, "qpsk")
    assert (tesela.mimo_detect(h, y, "qpsk", layout="antennas-rows").labels == sent).all()
    assert (tesela.mimo_detect(h, y.T, "qpsk", layout="signals-rows").labels == sent.T).all()
    with pytest.raises(ValueError, match="layout must be"):
        tesela.mimo_detect(h, y, "qpsk", layout="rows")
    with pytest.raises(ValueError, match="5 columns"):
        tesela.mimo_detect(h, np.zeros((3, 5)), "qpsk", layout="signals-rows")


def test_signals_without_a_result():
    h, y = np.ones((2, 2)), np.ones((2, 3))
    with pytest.raises(np.linalg.LinAlgError, match="dependent") as caught:
        tesela.mimo_detect(h, y, "qpsk", method="zf")
    failed = caught.value.result
    assert (failed.labels == -1).all() and (failed.bits == -1).all() and np.isnan(failed.points).all()
    assert caught.value.status == "dependent columns"
    assert tesela.mimo_detect(h, y, "qpsk").labels.shape == (2, 3)  # the sphere search accepts dependent columns
    h, y, _, _ = problem(7, antennas=8, streams=8, noise=2)
    assert tesela.mimo_detect(h, y, "16qam", max_nodes=8).uncertified > 0


@pytest.mark.parametrize(
    "error, call",
    [
        (ValueError, lambda h, y: tesela.mimo_detect(h[0], y, "qpsk")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y[:1], "qpsk")),
        (ValueError, lambda h, y: tesela.mimo_detect(np.stack([h] * 3), y[:, :4], "qpsk")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, "qpsk", method="best of all")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, "qpsk", order="none")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, "32qam")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, [1, -1, 1j])),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, ["qpsk"] * 3)),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, [1, np.nan])),
        (ValueError, lambda h, y: tesela.mimo_detect(h * np.nan, y, "qpsk")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, "qpsk", n0=-1)),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, "qpsk", method="mmse")),
        (ValueError, lambda h, y: tesela.mimo_detect(h, y, "qpsk", method="ep")),
        (ValueError, lambda h, y: tesela.mimo_soft(h, y, "qpsk", 0)),
        (ValueError, lambda h, y: tesela.mimo_soft(h, y, "qpsk", 1, kind="none")),
        (ValueError, lambda h, y: tesela.mimo_soft(h, y, "qpsk", 1, priors=np.zeros((3, 20)))),
        (TypeError, lambda h, y: tesela.mimo_detect(h.astype(object), y, "qpsk")),
        (TypeError, lambda h, y: tesela.mimo_detect("text", y, "qpsk")),
    ],
)
def test_bad_input(error, call):
    h, y, _, _ = problem(8)
    with pytest.raises(error):
        call(h, y)
