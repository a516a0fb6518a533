// The rows of a sample as a taxonomic tree.

export const RANKS = [
  ["D", "Domain"],
  ["P", "Phylum"],
  ["C", "Class"],
  ["O", "Order"],
  ["F", "Family"],
  ["G", "Genus"],
  ["S", "Species"],
];
// In Kraken's reports, K is kingdom, or domain in old taxonomies.
export const RANK_NAMES = new Map([...RANKS, ["K", "Kingdom"], ["R", "Root"], ["U", "Unclassified"]]);

/** A taxon and the taxa below it, as a separate sample; all taxa for -1. */
export function clade(of, at) {
  if (at < 0) return { ...of, isWhole: true };
  const { d, c } = of.rows[at];
  let end = at + 1;
  while (end < of.rows.length && of.rows[end].d > d) end++;
  return { reads: c, unclassified: 0, rows: of.rows.slice(at, end), isWhole: false };
}

/** The row numbers of the parents; -1 for rows without a parent. */
export function parents({ rows }) {
  const above = [];
  return rows.map(({ d }, row) => {
    while (above.length > 0 && rows[above.at(-1)].d >= d) above.pop();
    const parent = above.at(-1) ?? -1;
    above.push(row);
    return parent;
  });
}

/** The `most` largest rows of main ranks. */
export function largest(taxa, most) {
  const main = [...taxa.rows.keys()].filter((index) => isMain(taxa.rows[index]) && taxa.rows[index].c > 0);
  // A parent has at least as many reads and precedes its children, so no parent is left out.
  main.sort((a, b) => taxa.rows[b].c - taxa.rows[a].c || a - b);
  return new Set(main.slice(0, most));
}

/** The nearest ancestors for which `is` is true; -1 for rows without one. */
export function nearest(of, is) {
  const above = parents(of);
  const found = [];
  above.forEach((parent, index) => {
    found[index] = parent < 0 ? -1 : is(of.rows[parent]) ? parent : found[parent];
  });
  return found;
}

/** Whether a row has one of the main ranks. */
export const isMain = ({ r }) => RANK_NAMES.has(r) && r !== "R";

/** The reads of each taxon of a rank, by name, and the reads of higher taxa. */
export function atRank(taxa, rank) {
  const reads = new Map();
  let sum = 0;
  for (const { r, n, c } of taxa.rows) {
    if (r !== rank) continue;
    reads.set(n, (reads.get(n) ?? 0) + c);
    sum += c;
  }
  return { reads, above: Math.max(0, taxa.reads - taxa.unclassified - sum) };
}
