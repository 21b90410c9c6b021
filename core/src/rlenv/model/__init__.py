"""The values that flow through a verification: tasks, outcomes, verdicts and errors."""
