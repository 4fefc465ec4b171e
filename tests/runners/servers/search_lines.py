"""Print `path:line:` of every line of the corpus that holds a word of the question."""

import pathlib
import re
import sys

words = re.findall(r"topic\d+", sys.argv[1])
for file in sorted(pathlib.Path().rglob("*.py")):
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if any(re.search(rf"\b{word}\b", line) for word in words):
            print(f"{file.as_posix()}:{number}:{line}")
