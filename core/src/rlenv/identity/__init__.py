"""Names an environment: its fingerprint, the content and state that it hashes, the secret."""
