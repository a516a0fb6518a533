#!/usr/bin/env python3
"""Draws docs/images/growth.svg from the tables `threads` and `growth-16` of docs/evidence/measurements.tsv.

    bench/plots.py            writes the plot
    bench/plots.py --check    writes nothing; exits with 1 if the plot would change

Both panels have logarithmic axes, so time in proportion to the input, or to the inverse of the threads, is a straight line.
"""

import math
import re
import sys

import tables

PLOT = tables.FOLDER.parent / "images" / "growth.svg"
WIDTH, HEIGHT, TOP, LEFT, SIDE = 820, 360, 44, 70, 290
SERIES = (("ours", "merganser", "#0072b2"), ("peer", "KMC 3.2.4", "#d55e00"))


def seconds(cell: str) -> float | None:
    """Returns the seconds of a cell; of a range, the middle."""
    found = re.search(r"seconds=([\d.]+)(?: to ([\d.]+))?", cell)
    return found and (float(found[1]) + float(found[2] or found[1])) / 2


def panel(left: int, title: str, unit: str, rows: list[dict[str, str]], slope: int) -> list[str]:
    """Draws one panel; the number at the start of `work` is the place on the horizontal axis."""
    places = [float(row["work"].split()[0]) for row in rows]
    times = [time for row in rows for name, _, _ in SERIES if (time := seconds(row[name]))]
    low, high = math.log(min(times) / 1.3), math.log(max(times) * 1.3)
    x0, x1 = math.log(min(places) / 1.2), math.log(max(places) * 1.2)

    def x(place: float) -> float:
        return left + SIDE * (math.log(place) - x0) / (x1 - x0)

    def y(time: float) -> float:
        return TOP + SIDE * 0.85 * (high - math.log(time)) / (high - low)

    bottom = TOP + SIDE * 0.85
    out = [
        f'<text x="{left + SIDE / 2}" y="28" text-anchor="middle" font-size="14">{title}</text>',
        f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE * 0.85}" fill="none" stroke="#888"/>',
        f'<text x="{left + SIDE / 2}" y="{bottom + 38}" text-anchor="middle">{unit}</text>',
    ]
    for time in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        if low < math.log(time) < high:
            out.append(f'<line x1="{left}" x2="{left + SIDE}" y1="{y(time):.1f}" y2="{y(time):.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{left - 6}" y="{y(time) + 4:.1f}" text-anchor="end">{time} s</text>')
    out += [f'<text x="{x(p):.1f}" y="{bottom + 18}" text-anchor="middle">{p:g}</text>' for p in places]
    for name, label, color in SERIES:
        points = [(x(p), y(time)) for p, row in zip(places, rows, strict=True) if (time := seconds(row[name]))]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in points]
        # The label is where the lines are apart: at the last point for growth, at the first for threads.
        at, up = points[-1 if slope > 0 else 0]
        anchor, move = ("end", -10) if slope > 0 else ("start", 10)
        out.append(f'<text x="{at + move:.1f}" y="{up - 8:.1f}" text-anchor="{anchor}" fill="{color}">{label}</text>')
    return out


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: bench/plots.py [--check]")
    current = [row for row in tables.read_rows() if row["current"] == "yes"]
    growth = [row for row in current if row["table"] == "growth-16"]
    threads = [row for row in current if row["table"] == "threads"]
    text = "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12" role="img" aria-labelledby="t"><title id="t">Time of counting by input size and by '
        f'threads, merganser and KMC 3.2.4</title><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *panel(LEFT, "Input, 16 threads", "Gbases", growth, 1),
        *panel(LEFT + SIDE + 120, "Threads, 1.9 Gbases", "threads", threads, -1),
        "</svg>\n",
    ])
    if not sys.argv[1:]:
        PLOT.write_text(text, encoding="utf-8")
    elif PLOT.read_text(encoding="utf-8") != text:
        print(f"{PLOT.name} differs from {tables.DATA.name}: run bench/plots.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
