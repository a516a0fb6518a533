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
  section.append(...[
    table({
      title: "Mapped reads of samples",
      columns: [
        { name: "Sample", text: true, show: short },
        { name: "Reads" },
        { name: "Mapped" },
        { name: "Share", show: (value) => percent(value) },
        { name: "Pairs" },
        { name: "Concordant pairs" },
        { name: "Share of pairs", show: (value) => percent(value) },
      ],
      rows: samples.map(({ sample, mapping }) => {
        const { reads, mapped, pairs } = mapping;
        const concordant = mapping.inserts.reduce((sum, [, many]) => sum + many, 0);
        return [sample, reads, mapped, reads > 0 ? mapped / reads : null, pairs ?? null, pairs ? concordant : null, pairs > 0 ? concordant / pairs : null];
      }),
    }),
    samples.some(({ mapping }) => mapping.qualities?.length > 0) && histogram({
      title: "Mapping qualities",
      about: "Mapped reads by the mapping quality (MAPQ) of their first record: on the Phred scale, the probability that the place is wrong.",
      axis: "MAPQ",
      unit: "Reads",
      samples: rows((mapping) => mapping.qualities ?? []),
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
    ...oneOf(samples, (sample) => [sample.mapping.contigs.length === 1 ? null : depths(sample), along(sample)].filter(Boolean)),
  ].filter(Boolean));
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

/** The number of contigs whose depth is drawn along them. */
const MOST_ALONG = 8;

/** The depth along the longest contigs. */
function along({ sample, mapping: { window, contigs } }) {
  const drawn = contigs.filter(({ w }) => w?.length > 1).sort((one, other) => other.l - one.l).slice(0, MOST_ALONG);
  if (drawn.length === 0) return null;
  const depth = ({ l, w }, at) => w[at] / Math.max(1, Math.min(window, l - at * window));
  return chart({
    title: `Depth along contigs, ${short(sample)}`,
    about: `Depth in windows of ${number(window)} bases of the longest contigs.`,
    zoomed: true,
    make: () => ({
      grid: { left: 90, right: 20, top: 40, bottom: 80 },
      legend: { show: drawn.length > 1 },
      tooltip: { trigger: "axis", valueFormatter: number },
      xAxis: { type: "value", name: "Position (bases)", min: 0, max: drawn[0].l, axisLabel: { formatter: compact, showMaxLabel: false } },
      yAxis: { type: "value", name: "Depth", min: 0, axisLabel: { formatter: compact } },
      series: drawn.map((contig) => ({
        name: short(contig.n, 40),
        type: "line",
        step: "end",
        showSymbol: false,
        lineStyle: { width: 1 },
        data: [...contig.w.map((_, at) => [at * window, depth(contig, at)]), [contig.l, depth(contig, contig.w.length - 1)]],
      })),
    }),
    numbers: () => ({
      columns: [{ name: "Contig", text: true, show: short }, { name: "From" }, { name: "Depth" }],
      rows: drawn.flatMap((contig) => contig.w.map((_, at) => [contig.n, at * window, depth(contig, at)])),
    }),
  });
}
