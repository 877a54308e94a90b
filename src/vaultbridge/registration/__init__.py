"""Registering the bridge with the clients of another repository, or of a user, and taking it back byte for byte."""
