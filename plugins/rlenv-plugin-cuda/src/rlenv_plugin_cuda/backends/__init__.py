"""What runs numba kernels on a machine without a GPU."""
