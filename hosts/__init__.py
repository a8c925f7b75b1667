"""What runs on hosts, and what they see of their packets."""
