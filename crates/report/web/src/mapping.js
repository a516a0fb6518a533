// Mapped reads.
import { histogram } from "./bars.js";
import { chart, nothing } from "./chart.js";
import { compact, el, number, percent, short } from "./dom.js";
import { oneOf } from "./pick.js";
import { table } from "./table.js";

const MOST_CONTIGS = 50;
/** Numbers of hits from this one are combined in one bar. */
const MANY = 20;

export function mappings(all) {
  const samples = all.filter((data) => data.mapping);
  const rows = (of) => samples.map((data) => [data.sample, of(data.mapping)]);
  const section = el("section", { "aria-label": "Mapped reads" }, el("h2", {}, "Mapped reads"));
  section.append(
    table({
      title: "Mapped reads of samples",
      columns: [
        { name: "Sample", text: true, show: short },
        { name: "Reads" },
        { name: "Mapped" },
        { name: "Share", show: (value) => percent(value) },
      ],
      rows: samples.map(({ sample, mapping: { reads, mapped } }) => [sample, reads, mapped, reads > 0 ? mapped / reads : null]),
    }),
    histogram({
      title: "Edits of the best hit",
      about: "Mapped reads by the substitutions, insertions and deletions of their first record.",
      axis: "Edits",
      unit: "Reads",
      samples: rows((mapping) => mapping.edits),
    }),
    histogram({
      title: "Hits of reads",
      about: "Reads by their number of reported hits; 0: not mapped.",
      axis: `Hits (${MANY}: ${MANY} or more)`,
      unit: "Reads",
      samples: rows((mapping) => gathered(mapping.hits)),
    }),
    histogram({
      title: "Insert sizes",
      about: "Concordant pairs by the bases that their best combination spans.",
      axis: "Bases",
      unit: "Pairs",
      samples: rows((mapping) => mapping.inserts),
      lines: true,
    }),
    ...oneOf(samples, (sample) => [depths(sample)]),
  );
  return section;
}

/** Combines large numbers of hits, which are rare and may be thousands, in one bar. */
function gathered(rows) {
  const few = rows.filter(([hits]) => hits < MANY);
  const many = rows.filter(([hits]) => hits >= MANY).reduce((sum, [, reads]) => sum + reads, 0);
  return many > 0 ? [...few, [MANY, many]] : few;
}

function depths({ sample, mapping: { contigs } }) {
  const title = `Depth by contig, ${short(sample)}`;
  if (contigs.length === 0) return nothing(title, "The reference has no contigs.");
  const depth = ({ l, b }) => (l > 0 ? b / l : 0);
  const largest = [...contigs].sort((one, other) => other.l - one.l).slice(0, MOST_CONTIGS);
  const cut = contigs.length > MOST_CONTIGS ? ` The ${MOST_CONTIGS} longest of ${number(contigs.length)}; the table has all.` : "";
  return chart({
    title,
    about: `Bases of the reads whose first record is on a contig, divided by its length.${cut}`,
    make: () => ({
      grid: { left: 90, right: 20, top: 20, bottom: 90 },
      tooltip: { trigger: "axis", valueFormatter: number },
      xAxis: { type: "category", data: largest.map(({ n }) => short(n, 24)), axisLabel: { rotate: 45, hideOverlap: true } },
      yAxis: { type: "value", name: "Depth", min: 0, axisLabel: { formatter: compact } },
      series: [{ type: "bar", name: "Depth", data: largest.map(depth) }],
    }),
    numbers: () => ({
      columns: [{ name: "Contig", text: true, show: short }, { name: "Bases" }, { name: "Reads" }, { name: "Bases of reads" }, { name: "Depth" }],
      rows: contigs.map((contig) => [contig.n, contig.l, contig.r, contig.b, depth(contig)]),
    }),
  });
}
