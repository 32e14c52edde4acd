"""Finds the constants in the library's headers from measurements."""
