"""One algorithm: a composition laid out as a plan, evaluated step by step, each result checked."""
