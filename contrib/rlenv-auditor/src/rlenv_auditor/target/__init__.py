"""The verifier under audit: always in a process of its own, which may hang, crash or lie."""
