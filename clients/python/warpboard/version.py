"""The client's version, by itself so that a build can read it without importing the rest."""

__version__ = "0.1.0"
