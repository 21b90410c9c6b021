"""Launch plans: what ``run`` may say, and how it is read without being executed.  Goes into
sandboxes whole.
"""
