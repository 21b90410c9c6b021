"""ORS, the protocol of the clients ``openreward`` and ``ors-sdk``, at the root of the server."""
