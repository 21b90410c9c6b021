"""Episodes: a policy acts turn after turn, tools or a user answer, and the stages judge the end."""
