// Taxa of reads, as charts and as a table of all taxa.
import { choice, nothing } from "./chart.js";
import { clades } from "./clades.js";
import { el, freshId, percent, short } from "./dom.js";
import { evidence } from "./evidence.js";
import { oneOf } from "./pick.js";
import { searchField, table } from "./table.js";
import { colours } from "./palette.js";
import { colourOf } from "./taxcolours.js";
import { RANK_NAMES } from "./taxonomy.js";

export function taxa(all) {
  const samples = all.filter((data) => data.taxa);
  return el("section", { "aria-label": "Taxa" }, el("h2", {}, "Taxa"), samples.length > 1 ? shares(samples) : null, oneOf(samples, sample));
}

function shares(samples) {
  // Bases are known only if the run was asked for them.
  const bases = samples.some(({ taxa }) => taxa.bases !== undefined);
  const ofBases = [{ name: "Bases" }, { name: "Classified bases" }, { name: "Share of bases unclassified", show: (value) => percent(value) }];
  const basesOf = ({ bases: all, unclassified_bases: rest }) => (all === undefined ? [null, null, null] : [all, all - rest, all > 0 ? rest / all : null]);
  return table({
    title: "Classified reads",
    columns: [
      { name: "Sample", text: true, show: short },
      { name: "Reads" },
      { name: "Classified" },
      { name: "Unclassified" },
      { name: "Share unclassified", show: (value) => percent(value) },
      ...(bases ? ofBases : []),
      { name: "Taxa" },
    ],
    rows: samples.map(({ sample, taxa }) => [
      sample,
      taxa.reads,
      taxa.reads - taxa.unclassified,
      taxa.unclassified,
      taxa.reads > 0 ? taxa.unclassified / taxa.reads : null,
      ...(bases ? basesOf(taxa) : []),
      taxa.rows.length,
    ]),
  });
}

function sample(data) {
  const { taxa: of } = data;
  const name = short(data.sample);
  if (of.reads === 0) return [nothing(`Taxa of ${name}`, "There are no reads.")];
  const drawn = of.rows.length === 0 ? [nothing(`Taxa of ${name}`, "No read has a taxon.")] : [clades(data, () => numbersOf(of)), evidence(data)];
  return [...drawn, all(data)].filter(Boolean);
}

function numbersOf(of) {
  const all = Math.max(1, of.bases ?? 0);
  const value = (row, key) => (key !== "share of bases" ? row[key] : row.b === undefined ? undefined : row.b / all);
  const has = (key) => of.rows.some((row) => value(row, key) !== undefined);
  const optional = [
    ["b", { name: "Bases of the clade" }],
    ["share of bases", { name: "Share of bases", show: (value) => percent(value, 3) }],
    ["k", { name: "k-mers" }],
    ["u", { name: "Distinct k-mers" }],
    ["a", { name: "Estimated share", show: (value) => percent(value, 4) }],
  ].filter(([key]) => has(key));
  return {
    columns: [
      { name: "Taxon", text: true, show: (name) => short(name, 100), indent: (row) => row.at(-1).d },
    { name: "Share", show: (value) => percent(value, 3), bar: (part, row) => ({ part, colour: row.at(-1).r === "U" ? colours().other : colourOf(row.at(-1)) }) },
      { name: "Rank", text: true, show: (rank) => RANK_NAMES.get(rank) ?? rank },
      { name: "Taxid", show: String },
      { name: "Reads of the clade" },
        { name: "Reads of its own" },
      ...optional.map(([, column]) => column),
    ],
    // The last value of a row is its taxon, which is not a column.
    rows: rowsOf(of).map((row) => [row.n, row.c / Math.max(1, of.reads), row.r, row.t, row.c, row.o, ...optional.map(([key]) => value(row, key) ?? null), row]),
  };
}

/** The taxa of a sample, with the unclassified reads. */
const rowsOf = (of) => (of.unclassified > 0 ? [{ d: 0, r: "U", t: 0, n: "Unclassified", c: of.unclassified, o: of.unclassified, b: of.unclassified_bases }, ...of.rows] : of.rows);

/** The table of all taxa, which can be sorted and searched. */
function all(data) {
  const { taxa: of } = data;
  const ranks = [...new Set(rowsOf(of).map(({ r }) => r))].sort();
  let rank = "";
  const { field, finds, isTyped } = searchField("name or taxid", () => whole.select());
  const options = [["", "all"], ...ranks.map((code) => [code, RANK_NAMES.get(code) ?? code])];
  const whole = table({
    title: `All taxa of ${short(data.sample)}`,
    ...numbersOf(of),
    filters: [field, choice("Rank", options, (value) => ((rank = value), whole.select()))],
    keeps: ([name, , code, taxid]) =>
      (rank === "" || code === rank) && (isTyped(taxid) || finds(name)),
  });
  return el("figure", { class: "taxa" }, el("figcaption", { id: freshId() }, el("h3", {}, `All taxa of ${short(data.sample)}`)), whole);
}
