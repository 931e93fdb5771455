"""Demonstrations in the formats of others."""
