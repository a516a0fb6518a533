// Rows of histograms: a value and its number.

/** Adds rows with 0 in gaps, so that lines go down to 0 there. */
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
