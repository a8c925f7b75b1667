"""Defaults that the command line shows before anything heavy is loaded."""

INTERVAL_S = 2.0
"""Between two readings of counters and entries."""

METRICS_PORT = 9464
"""The customary port of a Prometheus exporter that has none of its own."""
