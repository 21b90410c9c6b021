"""Agreement, calibration, pairwise strengths and length slopes; plain arithmetic."""
