// Places of labels: inside the chart, and none over another one.

/**
 * Distributes labels along a line of this length, so that neighbours are at least `gap` apart and in the order of their wanted places.
 * Returns the places.
 */
export function spread(wanted, [from, to], gap) {
  const order = wanted.map((place, index) => [place, index]).sort(([a, i], [b, j]) => a - b || i - j);
  const places = new Array(wanted.length);
  let least = from;
  for (const [place, index] of order) {
    places[index] = Math.max(place, least);
    least = places[index] + gap;
  }
  let most = to;
  for (const [, index] of order.reverse()) {
    places[index] = Math.min(places[index], most);
    most = places[index] - gap;
  }
  return places;
}

const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** The distance of a label from its point. */
const BESIDE = 8;

/**
 * Places labels beside points, in their order. `sizes` are widths and heights, `frame` is [left, top, right, bottom]. A label that fits
 * nowhere has the place `null`.
 */
export function beside(points, sizes, frame) {
  const taken = points.map(([x, y]) => [x - 4, y - 4, x + 4, y + 4]);
  const dots = taken.length;
  return points.map(([x, y], at) => {
    const [width, height] = sizes[at];
    const [up, down] = [y - BESIDE - height, y + BESIDE];
    const corners = [
      [x + BESIDE, y - height / 2],
      [x - BESIDE - width, y - height / 2],
      [x - width / 2, up],
      [x - width / 2, down],
      ...[2, 3.5, 5].flatMap((far) => [
        [x + BESIDE, y - far * height],
        [x + BESIDE, y + (far - 1) * height],
        [x - BESIDE - width, y - far * height],
        [x - BESIDE - width, y + (far - 1) * height],
      ]),
    ];
    const found = corners.find(([left, top]) => {
      const box = [left, top, left + width, top + height];
      const inside = box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3];
      return inside && !taken.some((other, index) => (index !== at || index >= dots) && meet(box, other));
    });
    if (!found) return null;
    taken.push([found[0], found[1], found[0] + width, found[1] + height]);
    return found;
  });
}
