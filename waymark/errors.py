"""Errors that a user can mend: shown as a message, never as a traceback."""


class WaymarkError(Exception):
    """Something the user gave cannot be used; the message says what, where, and what is valid."""
