// The most important numbers of the results, at the top of the page.
import { countedIn } from "./database.js";
import { compact, el, number, percent, short } from "./dom.js";

/** The largest number of samples whose numbers are at the top; more are in the tables. */
const MOST = 4;

/** The numbers of each kind of result: a label, a value, and a note. */
const KINDS = [
  ["spectrum", ofSpectrum],
  ["taxa", ofTaxa],
  ["assembly", ofAssembly],
  ["mapping", ofMapping],
  ["decisions", ofDecisions],
  ["search", ofSearch],
  ["selection", ofSelection],
  ["database", ofDatabase],
];

export function headline(all) {
  const shown = all.filter((data) => KINDS.some(([kind]) => data[kind]));
  if (shown.length === 0) return null;
  const several = shown.length > 1;
  const kinds = new Set(shown.flatMap((data) => KINDS.filter(([kind]) => data[kind]).map(([kind]) => kind)));
  if (shown.length > MOST || (several && kinds.size === 1)) return el("section", { class: "headline", "aria-label": "Summary" }, cards(overall(shown)));
  const groups = shown.map((data) => {
    const facts = KINDS.flatMap(([kind, of]) => (data[kind] ? of(data[kind]) : []));
    return [several ? el("p", { class: "of", dir: "auto" }, `${short(data.sample)}: merganser ${short(data.command)}`) : null, cards(facts)];
  });
  return el("section", { class: "headline", "aria-label": "Summary" }, groups.flat());
}

const cards = (facts) =>
  el(
    "dl",
    { class: "facts" },
    facts.filter(Boolean).map(([label, value, note]) => el("div", {}, el("dt", {}, label), el("dd", {}, value), note ? el("dd", { class: "note", dir: "auto" }, note) : null)),
  );

/** Sums over many samples. */
function overall(all) {
  const sum = (get) => all.reduce((sum, data) => sum + (get(data) ?? 0), 0);
  const databases = all.filter(({ database }) => database).length;
  const names = new Set(all.filter(({ database }) => !database).map(({ sample }) => sample));
  const taxa = all.filter((data) => data.taxa);
  const reads = sum(({ taxa }) => taxa?.reads);
  const classified = sum(({ taxa }) => taxa && taxa.reads - taxa.unclassified);
  const mapped = sum(({ mapping }) => mapping?.mapped);
  const toMap = sum(({ mapping }) => mapping?.reads);
  const sizes = all.flatMap(({ spectrum }) => (spectrum?.model ? [spectrum.model.genome_size] : []));
  const selected = sum(({ selection }) => selection?.reads);
  const pairs = sum(({ decisions }) => decisions?.pairs);
  const judged = all.flatMap(({ assembly }) => assembly?.judged ?? []);
  const qualities = judged.flatMap(({ quality }) => quality ?? []);
  const complete = judged.flatMap(({ completeness }) => completeness ?? []);
  const without = judged.length - qualities.length;
  const patterns = all.flatMap(({ search }) => search?.patterns ?? []);
  const found = new Set(patterns.filter(({ h }) => h.some((hits) => hits > 0)).map(({ n }) => n));
  return [
    databases < all.length && ["Samples", number(names.size)],
    databases > 0 && ["Databases", number(databases)],
    taxa.length > 0 && ["Reads", number(reads)],
    taxa.length > 0 && ["Classified", percent(reads > 0 ? classified / reads : null, 1), range(taxa.map(({ taxa: { reads, unclassified } }) => (reads > 0 ? 1 - unclassified / reads : 0)))],
    sizes.length > 0 && ["Genome sizes", between(sizes, bases)],
    pairs > 0 && ["Accepted pairs", percent(sum(({ decisions }) => decisions?.accepted) / pairs, 1)],
    selected > 0 && ["Kept or extracted", percent(sum(({ selection }) => selection?.parts[0]?.r) / selected, 1), `of ${number(selected)} reads`],
    toMap > 0 && ["Mapped", percent(mapped / toMap, 1)],
    judged.length > 0 && ["Assemblies", number(judged.length)],
    qualities.length > 0 && ["QV", between(qualities, (value) => value.toFixed(1)), without > 0 ? `${number(without)} more without an error` : null],
    complete.length > 0 && ["Completeness", between(complete, (value) => percent(value, 1))],
    patterns.length > 0 && ["Hits", number(sum(({ search }) => search?.edits.reduce((all, [, hits]) => all + hits, 0)))],
    patterns.length > 0 && ["Patterns", number(new Set(patterns.map(({ n }) => n)).size), `${number(found.size)} with hits`],
  ];
}

/** The smallest and the largest of some values, or the only one. */
const between = (values, show) => {
  const [least, most] = [Math.min(...values), Math.max(...values)].map(show);
  return least === most ? least : `${least} – ${most}`;
};
const range = (shares) => `${percent(Math.min(...shares), 1)} to ${percent(Math.max(...shares), 1)} of a sample`;

/** A value with its standard error. */
const with_error = (error, show) => (error === undefined || error === null ? null : `± ${show(error)}`);

function ofSpectrum({ k, rows, model }) {
  const distinct = rows.reduce((sum, [, kmers]) => sum + kmers, 0);
  if (!model) return [[`Distinct ${k}-mers`, compact(distinct), number(distinct)]];
  const errors = model.standard_errors ?? {};
  const small = (value) => percent(value, 3);
  return [
    ["Genome size", bases(model.genome_size), `${number(Math.round(model.genome_size))} bases ${with_error(errors.genome_size, (value) => number(Math.round(value))) ?? ""}`],
    model.ploidy > 1 && ["Heterozygosity", small(model.heterozygosity), with_error(errors.heterozygosity, (value) => percent(value, 4))],
    ["k-mer coverage", `${model.coverage.toFixed(1)}×`, "of one copy of the genome"],
    model.error_rate === null ? null : ["Errors per base", small(model.error_rate), with_error(errors.error_rate, (value) => percent(value, 4))],
    ["Model", percent(model.explained, 1), "of the k-mers explained"],
  ];
}

/** A number of bases with a unit. */
export function bases(value) {
  for (const [unit, name] of [[1e9, "Gb"], [1e6, "Mb"], [1e3, "kb"]]) if (value >= unit) return `${(value / unit).toPrecision(3)} ${name}`;
  return `${number(Math.round(value))} b`;
}

function ofTaxa({ reads, unclassified, rows }) {
  const species = rows.filter(({ r, c }) => r === "S" && c > 0);
  const largest = species.reduce((most, row) => (most === null || row.c > most.c ? row : most), null);
  const share = (part) => percent(reads > 0 ? part / reads : null, 1);
  return [
    ["Reads", number(reads)],
    ["Classified", share(reads - unclassified), `${number(reads - unclassified)} reads`],
    ["Unclassified", share(unclassified), `${number(unclassified)} reads`],
    ["Species", number(species.length), "with reads"],
    largest && ["Largest species", share(largest.c), short(largest.n)],
  ];
}

function ofAssembly({ judged }) {
  return judged.slice(0, MOST).flatMap(({ name, quality, completeness, only }) => [
    ["QV", quality === null ? "no error found" : quality.toFixed(1), `${short(name, 30)}: ${number(only)} k-mers not in the reads`],
    completeness === null || completeness === undefined ? null : ["Completeness", percent(completeness, 2), short(name, 30)],
  ]);
}

function ofMapping({ reads, mapped, pairs: all, inserts, contigs }) {
  const pairs = inserts.reduce((sum, [, many]) => sum + many, 0);
  const depth = contigs.reduce((sum, { b }) => sum + b, 0) / Math.max(1, contigs.reduce((sum, { l }) => sum + l, 0));
  let [seen, median] = [0, null];
  for (const [size, many] of inserts) {
    seen += many;
    if (median === null && 2 * seen >= pairs) median = size;
  }
  return [
    ["Reads", number(reads)],
    ["Mapped", percent(reads > 0 ? mapped / reads : null, 1), `${number(mapped)} reads`],
    (all > 0 || pairs > 0) && ["Concordant pairs", percent(all > 0 ? pairs / all : (2 * pairs) / reads, 1), `${number(pairs)} pairs`],
    pairs > 0 && ["Insert size", number(median), "median, in bases"],
    contigs.length > 0 && ["Depth", `${number(Number(depth.toPrecision(3)))}×`, `mean of ${number(contigs.length)} ${contigs.length === 1 ? "contig" : "contigs"}`],
  ];
}

function ofDecisions({ pairs, accepted }) {
  return [
    ["Pairs", number(pairs)],
    ["Accepted", percent(pairs > 0 ? accepted / pairs : null, 1), `${number(accepted)} pairs`],
    ["Rejected", percent(pairs > 0 ? 1 - accepted / pairs : null, 1), `${number(pairs - accepted)} pairs`],
  ];
}

function ofSearch({ texts, letters, edits, patterns }) {
  return [
    ["Hits", number(edits.reduce((sum, [, hits]) => sum + hits, 0))],
    ["Patterns", number(patterns.length), `${number(patterns.filter(({ h }) => h.some((hits) => hits > 0)).length)} with hits`],
    ["Sequences", number(texts), `${compact(letters)} letters`],
  ];
}

function ofDatabase(of) {
  const species = of.rows.filter(({ r, c }) => r === "S" && c > 0).length;
  return [
    ["Database", bytes(of.bytes), of.kind],
    of.references !== undefined && ["Reference sequences", number(of.references)],
    ["Species", number(species), `with ${countedIn(of)}; ${number(of.taxa)} taxa in the taxonomy`],
    of.bases !== undefined && ["Bases", bases(of.bases)],
    [`Distinct ${of.unit}`, compact(of.stored), number(of.stored)],
    of.cells > 0 && ["Load", percent(of.stored / of.cells, 1), `of ${number(of.cells)} cells`],
  ];
}

/** A number of bytes with a unit. */
function bytes(value) {
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) if (value >= unit) return `${(value / unit).toPrecision(3)} ${name}`;
  return `${number(value)} bytes`;
}

function ofSelection({ reads, parts }) {
  return [["Reads", number(reads)], ...parts.map(({ n, r }) => [n, percent(reads > 0 ? r / reads : null, 2), `${number(r)} reads`])];
}
