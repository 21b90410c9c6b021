"""Kernels in Triton: rules, checked execution on the CPU, and the compile gate."""
