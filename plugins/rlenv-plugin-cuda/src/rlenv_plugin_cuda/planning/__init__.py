"""Launch plans: what ``run`` may say, and how it is read without being executed.

The package goes into sandboxes whole.
"""
