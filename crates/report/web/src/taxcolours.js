// The colours of taxa: a taxon has the same colour on all charts of a page, and neighbours differ.
import { colours } from "./palette.js";
import { isMain, nearest } from "./taxonomy.js";

/** The maximum number of taxa of a sample whose colours are chosen; others, which are small, get one by their taxid. */
const MOST = 3000;
/** The numbers of hues and of shades of each. */
const [HUES, SHADES] = [7, 3];

const keyOf = ({ t, n }) => `${t}\n${n}`;
let chosen = new Map();

/** Chooses the colours of the taxa of all samples. */
export function chooseColours(samples) {
  chosen = new Map();
  const taxa = new Map();
  for (const of of samples) collect(of, taxa);
  const order = [...taxa.values()].sort((one, other) => other.share - one.share || one.depth - other.depth || (one.key < other.key ? -1 : 1));
  const used = new Map();
  const heirs = new Set();
  for (const taxon of order) {
    const ofRank = used.get(taxon.rank) ?? new Set();
    used.set(taxon.rank, ofRank);
    const parent = chosen.get(taxon.parent);
    const isHeir = parent !== undefined && !heirs.has(taxon.parent);
    heirs.add(taxon.parent);
    const near = new Set([...taxon.near].map((key) => chosen.get(key)));
    near.add(parent);
    // The largest child has its parent's hue in another shade.
    const wanted = (isHeir ? parent : ofRank.size) % HUES;
    const all = Array.from({ length: HUES * SHADES }, (_, at) => ((wanted + at) % HUES) + HUES * Math.floor(at / HUES));
    const first = isHeir ? [wanted, wanted + HUES, wanted + 2 * HUES, ...all] : all;
    const colour = first.find((one) => !ofRank.has(one) && !near.has(one)) ?? first.find((one) => !near.has(one)) ?? wanted;
    ofRank.add(colour);
    chosen.set(taxon.key, colour);
  }
}

/** Adds the largest taxa of the main ranks of a sample, with the taxa beside them. */
function collect(of, taxa) {
  const above = nearest(of, isMain);
  const rows = [...of.rows.keys()].filter((row) => isMain(of.rows[row]) && of.rows[row].c > 0);
  const kept = rows.length > MOST ? new Set([...rows].sort((a, b) => of.rows[b].c - of.rows[a].c || a - b).slice(0, MOST)) : null;
  const last = new Map();
  const first = new Map();
  const meet = (one, other) => one !== other && (one.near.add(other.key), other.near.add(one.key));
  for (const row of rows) {
    if (kept && !kept.has(row)) continue;
    const { r, c, d } = of.rows[row];
    const key = keyOf(of.rows[row]);
    const taxon = taxa.get(key) ?? { key, rank: r, depth: d, parent: above[row] < 0 ? null : keyOf(of.rows[above[row]]), share: 0, near: new Set() };
    taxa.set(key, taxon);
    taxon.share += c / Math.max(1, of.reads);
    if (last.has(r)) meet(taxon, last.get(r));
    else first.set(r, taxon);
    last.set(r, taxon);
  }
  // The first and the last are neighbours in a circle.
  for (const [rank, taxon] of first) meet(taxon, last.get(rank));
}

/** The colour of a taxon in the current theme; those between the main ranks have a grey. */
export function colourOf(row) {
  if (!isMain(row)) return colours().muted;
  const at = chosen.get(keyOf(row)) ?? row.t % (HUES * SHADES);
  return shade(colours().series[at % HUES], Math.floor(at / HUES));
}

/** A colour as it is, lighter, or darker. */
function shade(colour, which) {
  if (which === 0) return colour;
  const to = which === 1 ? 255 : 0;
  const part = which === 1 ? 0.45 : 0.35;
  return `#${[1, 3, 5].map((at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * (1 - part) + to * part).toString(16).padStart(2, "0")).join("")}`;
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000000" : "#ffffff";
}
