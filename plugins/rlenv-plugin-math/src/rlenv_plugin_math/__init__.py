"""Answers in mathematics, for rlenv."""
