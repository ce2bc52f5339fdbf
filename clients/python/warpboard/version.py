"""The client's version, in a file of its own so that a build can read it without importing the rest."""

__version__ = "0.2.0"
