"""Draw ``docs/img/lab.png`` and ``docs/img/lab.webp``: ``python docs/lab_picture.py``.

It opens the live lab in Chromium, so it needs ``make web``.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parent
WEB = DOCS.parent / "web"
SIZE = (960, 540)
FRAME_MS = 80


def main() -> None:
    """Draw both."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["node", WEB / "pictures.js", folder], check=True)
        shutil.copyfile(Path(folder) / "lab.png", DOCS / "img" / "lab.png")
        frames = [Image.open(path).resize(SIZE) for path in sorted(Path(folder).glob("frame-*"))]
        frames[0].save(
            DOCS / "img" / "lab.webp",
            save_all=True,
            append_images=frames[1:],
            duration=FRAME_MS,
            loop=0,
            quality=70,
            method=6,
        )


if __name__ == "__main__":
    main()
