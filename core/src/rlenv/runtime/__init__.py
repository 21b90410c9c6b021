"""Runs stages in this process or in workers, with a deadline: executors, batches, serialization."""
