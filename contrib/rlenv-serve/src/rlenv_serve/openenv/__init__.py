"""OpenEnv: its WebSocket, and the operations over HTTP that its clients use."""
