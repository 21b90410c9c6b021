"""Stages of judges, a module each."""
