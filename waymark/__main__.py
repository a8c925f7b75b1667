"""``python -m waymark``: the same as the ``waymark`` script."""

from waymark.cli import main

if __name__ == "__main__":
    main()
