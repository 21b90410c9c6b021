"""Kernels on a real GPU: launches and clocks.  Importing this loads no library of CUDA's."""
