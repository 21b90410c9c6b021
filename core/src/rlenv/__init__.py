"""rlenv: verifiers as plugins."""
