"""What a judge is asked and what counts as its answer."""
