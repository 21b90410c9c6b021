"""Verdicts as the published checkers of IFEval and IFBench give them, faults included."""
