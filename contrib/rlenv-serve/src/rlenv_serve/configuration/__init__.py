"""Tasks, the verifiers that were served, and what models reach on them: the store of what has keys
and constraints.
"""
