"""A run of ``rlenv rollout``: from a policy to rollouts that are safe on the disk (counts to
rlenv-plugin-agent).
"""
