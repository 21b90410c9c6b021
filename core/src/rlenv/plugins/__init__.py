"""Plugins: found by their metadata, loaded when named; the observers among them."""
