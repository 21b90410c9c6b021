"""The stages."""
