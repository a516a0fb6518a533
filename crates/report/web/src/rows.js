// Rows of histograms: a value, and how many there are of it.

/** The rows with those that stand for nothing: lines go down there instead of on to the next value. */
export function filled(rows) {
  const all = [];
  let last = null;
  for (const [value, many] of rows) {
    if (last !== null && value > last + 1) all.push([last + 1, 0]);
    if (last !== null && value > last + 2) all.push([value - 1, 0]);
    all.push([value, many]);
    last = value;
  }
  return all;
}
