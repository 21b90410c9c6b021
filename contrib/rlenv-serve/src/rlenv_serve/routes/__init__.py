"""The operations of rlenv's own protocol over HTTP, and the page for people."""
