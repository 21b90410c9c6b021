"""The part of HTTP that every protocol shares: bodies, answers, errors, keys, limits and turns."""
