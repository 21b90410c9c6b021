"""The stages of this plugin."""
