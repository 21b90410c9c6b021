"""Stages of constraints, a module each."""
