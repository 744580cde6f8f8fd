"""Kernels for CUDA in Triton, which comes with torch's builds for CUDA: imported when a tensor on CUDA comes.

In: float32 tensors of one device. Out: new tensors there, up to rounding those of `gatewise.nn.functional`. No kernel
uses atomics: every sum has one order, so that one seed gives one network.
"""
