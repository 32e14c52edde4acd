"""Reads the results of the benchmark programs: checks, compares and reports them, and fits models to them."""
