"""Dataplane tests through P4Runtime: `python -m ptf_tests`."""
