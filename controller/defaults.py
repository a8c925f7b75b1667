"""Defaults for the command line, in a module that imports quickly."""

INTERVAL_S = 2.0
"""Time between two readings of counters and entries."""

METRICS_PORT = 9464
"""The usual port of a Prometheus exporter without an assigned port."""
