"""What runs beside an untrusted program: standard library only, any CPython from 3.8, imports
nothing of rlenv.
"""
