"""Compiling kernels without a GPU: what an answer takes of registers, shared memory and stack, and
what it spills.
"""
