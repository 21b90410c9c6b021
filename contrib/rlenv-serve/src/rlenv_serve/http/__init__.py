"""What every protocol over HTTP shares: requests, answers, errors, keys and limits."""
