"""Episodes over HTTP, as Gymnasium has them: begin, step, and ask for the reward."""
