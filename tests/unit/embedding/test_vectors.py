"""Operations on embedding matrices."""

import numpy as np

from lithify.embedding.vectors import mean_over_tokens, unit_rows, window_means


def test_rows_get_length_one_and_zeros_stay_zero() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]], np.float32))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]], atol=1e-7)


def test_padding_is_not_part_of_the_mean() -> None:
    hidden = np.array([[[1.0, 1.0], [3.0, 5.0], [100.0, 100.0]]], np.float32)
    np.testing.assert_array_equal(mean_over_tokens(hidden, np.array([[1, 1, 0]])), [[2.0, 3.0]])


def test_windows_are_joined_text_by_text() -> None:
    """spec 03.11: the mean of several windows has length 1 again; a single window is left alone."""
    windows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], np.float32)
    joined = window_means(windows, [1, 2, 1])
    np.testing.assert_allclose(joined, [[1.0, 0.0], [2**-0.5, 2**-0.5], [0.0, 1.0]], atol=1e-7)
