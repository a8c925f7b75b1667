"""The controller: configures P4Runtime switches from a file, and keeps them configured.

``config`` reads the file, ``entries`` converts it to table entries, ``client`` connects to a
switch, ``diff`` compares, ``apply`` writes, ``watch`` repeats this; ``counters``, ``metrics`` and
``view`` show the switch's counters. `README.md` in this folder is the manual.
"""
