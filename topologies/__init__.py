"""Networks as data, and what brings them up on this machine.

``plan`` says what a topology takes on Linux, ``netns`` and ``mininet`` make it, ``state`` remembers
what was made, so that it can be taken down whatever happened in between.
"""
