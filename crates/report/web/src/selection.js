// Reads that were kept or extracted.
import { histogram } from "./bars.js";
import { el, percent, short } from "./dom.js";
import { colours } from "./palette.js";
import { table } from "./table.js";

export function selections(all) {
  const samples = all.filter((data) => data.selection);
  const share = (part, whole) => (whole > 0 ? part / whole : null);
  const bases = samples.some(({ selection }) => selection.parts.some(({ b }) => b !== undefined));
  const rows = samples.flatMap(({ sample, selection }) =>
    selection.parts.map(({ n, r, b }, at) => [sample, n, r, share(r, selection.reads), ...(bases ? [b ?? null, b === undefined ? null : share(b, selection.bases)] : []), at]),
  );
  // The last value of a row is its place: reads that were written come first.
  const bar = (part, row) => ({ part: part ?? 0, colour: row.at(-1) === 0 ? colours().series[0] : colours().other });
  const section = el(
    "section",
    { "aria-label": "Kept or extracted reads" },
    el("h2", {}, "Kept or extracted reads"),
    table({
      title: "Parts of the reads",
      columns: [
        { name: "Sample", text: true, show: short },
        { name: "Part", text: true, show: short },
        { name: "Reads" },
        { name: "Share of reads", show: (value) => percent(value), bar },
        ...(bases ? [{ name: "Bases" }, { name: "Share of bases", show: (value) => percent(value), bar }] : []),
      ],
      rows,
    }),
  );
  const searched = samples.filter(({ selection }) => selection.edits?.length > 0);
  if (searched.length > 0) {
    section.append(
      histogram({
        title: "Kept reads by their nearest place in the host",
        about: "Kept reads by the edits to the nearest place in the host's haplotypes, for reads that have one within the bound.",
        axis: "Edits",
        unit: "Reads",
        samples: searched.map((data) => [data.sample, data.selection.edits]),
      }),
    );
  }
  return section;
}
