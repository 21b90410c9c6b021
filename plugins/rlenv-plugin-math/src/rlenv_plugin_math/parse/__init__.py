"""The Pratt parser, by what is read: ``engine`` holds the loop, the other files fill its tables."""
