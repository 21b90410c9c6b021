"""The page at ``/``: environments, open episodes, and trajectories with all that they did."""
