"""The version of the package. What makes a wheel writes that of the release here."""

__version__ = "0.0.0"
