"""Kernels in CUDA C++: what they may say, and their launch plans."""
