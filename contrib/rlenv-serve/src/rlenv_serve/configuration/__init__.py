"""Which verifiers were served: the store of what has keys and constraints."""
