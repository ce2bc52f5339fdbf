"""Functions that return the TensorSpec of a tensor that the server fills."""

from __future__ import annotations

from typing import List, Optional

from .tensorspec import TensorInit, TensorSpec


def create_tensor_spec(
    shape: List[int], dtype: str = "float32", init_kind: Optional[str] = None, seed: Optional[int] = None,
    **init_kwargs: float,
) -> TensorSpec:
    """Returns the spec of a tensor filled by init_kind: randn, uniform, zeros, ones, full or arange; None leaves it
    unfilled.

    init_kwargs are the kind's parameters: mean, std, low, high, fill_value, start, step. Raises
    ValueError for an unknown dtype or kind and TypeError for an unknown parameter.
    """
    init = None if init_kind is None else TensorInit(kind=init_kind, seed=seed, **init_kwargs)
    return TensorSpec(shape=shape, dtype=dtype, init=init)


def create_randn_spec(
    shape: List[int], dtype: str = "float32", seed: Optional[int] = None, mean: float = 0.0, std: float = 1.0
) -> TensorSpec:
    """Returns a spec for normally distributed values. Integer dtypes get values of their whole range, and ignore mean
    and std."""
    return create_tensor_spec(shape, dtype, "randn", seed=seed, mean=mean, std=std)


def create_uniform_spec(
    shape: List[int], dtype: str = "float32", seed: Optional[int] = None, low: float = 0.0, high: float = 1.0
) -> TensorSpec:
    """Returns a spec for uniformly distributed values in [low, high); for integer dtypes in [low, high]."""
    return create_tensor_spec(shape, dtype, "uniform", seed=seed, low=low, high=high)


def create_zeros_spec(shape: List[int], dtype: str = "float32") -> TensorSpec:
    """Returns a spec for a tensor of zeros."""
    return create_tensor_spec(shape, dtype, "zeros")


def create_ones_spec(shape: List[int], dtype: str = "float32") -> TensorSpec:
    """Returns a spec for a tensor of ones."""
    return create_tensor_spec(shape, dtype, "ones")


def create_full_spec(shape: List[int], fill_value: float, dtype: str = "float32") -> TensorSpec:
    """Returns a spec for a tensor whose elements all have the same value."""
    return create_tensor_spec(shape, dtype, "full", fill_value=fill_value)


def create_arange_spec(shape: List[int], dtype: str = "float32", start: float = 0.0, step: float = 1.0) -> TensorSpec:
    """Returns a spec for the values start + i*step along the last dimension, repeated over the others."""
    return create_tensor_spec(shape, dtype, "arange", start=start, step=step)
