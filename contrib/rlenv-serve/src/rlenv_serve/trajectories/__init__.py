"""The second tier: episodes that have ended, for those who train on them, look at them or count
them.
"""
