// Rows of histograms: a value and its number.

/** Adds rows with 0 in gaps, so that lines go down to 0 there. Values are multiples of `step`. */
export function filled(rows, step = 1) {
  const all = [];
  let last = null;
  for (const [value, many] of rows) {
    if (last !== null && value > last + step) all.push([last + step, 0]);
    if (last !== null && value > last + 2 * step) all.push([value - step, 0]);
    all.push([value, many]);
    last = value;
  }
  return all;
}
