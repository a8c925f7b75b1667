"""The controller: brings P4Runtime switches to what a configuration says, and keeps them there.

``config`` reads what is wanted, ``entries`` turns it into table entries, ``client`` talks to a
switch, ``diff`` compares, ``apply`` writes, ``watch`` keeps at it; ``counters``, ``metrics`` and
``view`` show what the switch counts. `README.md` beside this file is the manual.
"""
