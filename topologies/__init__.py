"""Networks as data, and the runners that bring them up on this machine.

``plan`` lists what a topology needs on Linux, ``netns`` and ``mininet`` create it, and ``state``
records what was created, so that it can always be taken down.
"""
