// Assemblies, evaluated with the k-mers of reads.
import { chart, nothing } from "./chart.js";
import { compact, el, freshId, number, percent, short } from "./dom.js";
import { widthOf } from "./measure.js";
import { colours, DASHES, SYMBOLS } from "./palette.js";
import { oneOf } from "./pick.js";
import { filled } from "./rows.js";
import { searchField, table } from "./table.js";

export function assemblies(all) {
  const samples = all.filter((data) => data.assembly);
  const section = el("section", { "aria-label": "Assemblies" }, el("h2", {}, "Assemblies"));
  const judged = samples.flatMap(({ sample, assembly }) => assembly.judged.map((one) => ({ sample, ...one })));
  section.append(numbers(judged));
  // A bar for a single number would say less than the number.
  if (judged.length > 1) section.append(qualities(judged));
  const sequences = samples.flatMap(({ assembly }) => assembly.judged.flatMap(({ name, sequences }) => (sequences ?? []).map((one) => [one.n, name, one.k, one.o, one.q ?? null])));
  if (sequences.length > 0) section.append(ofSequences(sequences));
  section.append(...oneOf(samples, ({ assembly }) => [...assembly.spectra.map(classes), ...(assembly.haplotypes ? [blobs(assembly), blocks(assembly)] : [])]));
  return section;
}

const named = (judged) => judged.map(({ name }) => short(name, 40));

function qualities(judged) {
  return chart({
    title: "Quality and completeness",
    about: "QV: the probability of an error at a base, on the Phred scale. Completeness: the share of the reads' solid k-mers that are in the assembly.",
    height: Math.max(220, 120 + 36 * judged.length),
    width: 640,
    make: () => {
      const { series, ink } = colours();
      const room = Math.min(260, 20 + Math.max(...judged.map(({ name }) => widthOf(short(name, 40), 12))));
      const [left, right] = [0, 1].map((at) => ({ left: at === 0 ? room : "57%", right: at === 0 ? "47%" : 30, top: 20, bottom: 50 }));
      const label = { show: true, position: "right", color: ink };
      return {
        grid: [left, right],
        tooltip: { trigger: "item" },
        xAxis: [
          { type: "value", name: "QV", min: 0, gridIndex: 0 },
          { type: "value", name: "Completeness (%)", min: 0, max: 100, gridIndex: 1 },
        ],
        yAxis: [
          { type: "category", data: named(judged), inverse: true, gridIndex: 0, axisLabel: { width: room - 10, overflow: "truncate" } },
          { type: "category", data: named(judged), inverse: true, gridIndex: 1, axisLabel: { show: false } },
        ],
        series: [
          { type: "bar", name: "QV", data: judged.map(({ quality }) => quality), itemStyle: { color: series[0] }, label: { ...label, formatter: ({ value }) => (value ?? 0).toFixed(1) } },
          { type: "bar", name: "Completeness", xAxisIndex: 1, yAxisIndex: 1, data: judged.map(({ completeness }) => completeness === null ? null : 100 * completeness), itemStyle: { color: series[1] }, label: { ...label, position: "inside", color: "#000000", formatter: ({ value }) => (value ?? 0).toFixed(2) } },
        ],
      };
    },
    numbers: () => numbersOf(judged),
  });
}

const numbersOf = (judged) => ({
  columns: [
    { name: "Assembly", text: true, show: short },
    { name: "k-mers" },
    { name: "Not in the reads" },
    { name: "QV", show: (value) => (value === null ? "no error found" : value.toFixed(2)) },
    { name: "Errors per base", show: (value) => value.toExponential(2) },
    { name: "Completeness", show: (value) => percent(value) },
  ],
  rows: judged.map((one) => [one.name, one.kmers, one.only, one.quality, one.error_rate, one.completeness]),
});

/** The table of sequences, which can be searched. */
function ofSequences(rows) {
  const title = "Sequences by k-mers";
  const { field, finds } = searchField("name", () => whole.select());
  const whole = table({
    title,
    columns: [
      { name: "Sequence", text: true, show: short },
      { name: "Assembly", text: true, show: short },
      { name: "k-mers" },
      { name: "Not in the reads" },
      { name: "QV", show: (value, [, , kmers]) => (value !== null ? value.toFixed(2) : kmers > 0 ? "no error found" : "–") },
    ],
    rows,
    filters: [field],
    keeps: ([name, assembly]) => finds(name, assembly),
  });
  return el("figure", {}, el("figcaption", { id: freshId() }, el("h3", {}, title)), whole);
}

const numbers = (judged) => table({ title: "Assemblies by k-mers", ...numbersOf(judged) });

/** The maximum number of points of a line. */
const MOST_ROWS = 5000;

/** The spectrum of each class, as a line with an area below it. */
function classes({ title, classes: all, only, solid }) {
  const drawn = all.filter(({ rows }) => rows.length > 0);
  if (drawn.length === 0) return nothing(short(title), "There are no k-mers to show.");
  // The y axis is scaled to the counts after the errors.
  const behind = drawn.flatMap(({ rows }) => rows.filter(([count]) => count > solid).map(([, kmers]) => kmers));
  const heights = behind.length > 0 ? behind : drawn.flatMap(({ rows }) => rows.map(([, kmers]) => kmers));
  const top = 1.2 * heights.reduce((most, kmers) => Math.max(most, kmers), 1);
  const total = (rows) => rows.reduce((sum, [, kmers]) => sum + kmers, 0);
  const sum = drawn.reduce((all, { rows }) => all + total(rows.filter(([count]) => count > solid)), 0);
  const counts = [...new Set(drawn.flatMap(({ rows }) => rows.map(([count]) => count)))].sort((a, b) => a - b);
  let [reached, most] = [0, 2 * solid];
  const at = new Map();
  drawn.forEach(({ rows }) => rows.forEach(([count, kmers]) => at.set(count, (at.get(count) ?? 0) + kmers)));
  for (const count of counts.filter((count) => count > solid)) {
    reached += at.get(count);
    most = count;
    if (reached > 0.98 * sum) break;
  }
  return chart({
    title: short(title),
    about: `k-mers of the reads by their count, with a line for each class; at 0, k-mers that are not in the reads (${only.map(number).join(", ")}).`,
    height: 420,
    zoomed: true,
    make: () => ({
      grid: { left: 90, right: 20, top: 40, bottom: 80 },
      legend: {},
      tooltip: { trigger: "axis", valueFormatter: number },
      xAxis: { type: "value", name: "Count in the reads", min: 0, max: Math.max(20, 10 * Math.ceil(0.13 * most)) },
      yAxis: { type: "value", name: "Distinct k-mers", min: 0, max: top, axisLabel: { formatter: compact, showMaxLabel: false } },
      series: [
        ...drawn.map(({ name, rows }, index) => ({
          name: short(name),
          type: "line",
          showSymbol: rows.length < 3,
          data: filled(rows).slice(0, MOST_ROWS),
          lineStyle: { width: 1.5, type: DASHES[index % DASHES.length] },
          areaStyle: { opacity: 0.12 },
        })),
        {
          name: "not in reads",
          type: "line",
          showSymbol: false,
          data: [[0, 0], [0, only.reduce((all, kmers) => all + kmers, 0)]],
          lineStyle: { width: 6, color: colours().muted },
          itemStyle: { color: colours().muted },
        },
      ],
    }),
    numbers: () => ({
      columns: [{ name: "Class", text: true, show: short }, { name: "Count" }, { name: "Distinct k-mers" }],
      rows: all.flatMap(({ name, rows }) => rows.map(([count, kmers]) => [name, count, kmers])),
    }),
  });
}

const MOST_CONTIGS = 5000;

/** Contigs by the k-mers of the two parents. */
function blobs({ judged, haplotypes: { parents, contigs } }) {
  const title = "k-mers of the parents in contigs";
  if (contigs.length === 0) return nothing(title, "There are no contigs.");
  const largest = [...contigs].sort((one, other) => other[3] - one[3]).slice(0, MOST_CONTIGS);
  const size = (kmers) => 4 + 36 * Math.sqrt(kmers / Math.max(1, largest[0][3]));
  const names = parents.map((name) => short(name, 30));
  return chart({
    title,
    about: "Each mark is a contig; its size shows the number of its k-mers. Contigs near the axis of a parent are from this parent; contigs near the dotted line have as many k-mers of each parent and are mixed.",
    height: 460,
    make: () => ({
      grid: { left: 90, right: 30, top: 40, bottom: 60 },
      legend: {},
      tooltip: { trigger: "item" },
      xAxis: { type: "value", name: `k-mers only in ${names[0]}`, min: 0, axisLabel: { formatter: compact } },
      yAxis: { type: "value", name: `k-mers only in ${names[1]}`, min: 0, axisLabel: { formatter: compact } },
      series: [...new Set(largest.map(([of]) => of))].sort((one, other) => one - other).map((of, index) => ({
        ...(index === 0 && { markLine: diagonal(largest) }),
        name: short(judged[of].name),
        type: "scatter",
        symbol: SYMBOLS[of % SYMBOLS.length],
        data: largest.filter((contig) => contig[0] === of).map(([, one, other, kmers]) => [one, other, kmers]),
        symbolSize: ([, , kmers]) => size(kmers),
        itemStyle: { opacity: 0.65 },
      })),
    }),
    numbers: () => ({
      columns: [{ name: "Assembly", text: true, show: short }, { name: names[0] }, { name: names[1] }, { name: "k-mers" }],
      rows: contigs.map(([of, one, other, kmers]) => [judged[of].name, one, other, kmers]),
    }),
  });
}

/** The line of equal numbers of k-mers of both parents. */
function diagonal(contigs) {
  const most = (which) => contigs.reduce((most, contig) => Math.max(most, contig[which]), 0);
  const end = Math.min(most(1), most(2));
  const lineStyle = { type: "dotted", color: colours().muted };
  return { silent: true, symbol: "none", label: { show: false }, lineStyle, data: [[{ coord: [0, 0] }, { coord: [end, end] }]] };
}

const MOST_BLOCKS = 2000;

/** The lengths of phase blocks, the longest first, by the cumulated bases. */
function blocks({ judged, haplotypes: { parents, blocks: all } }) {
  const title = "Phase blocks";
  if (all.length === 0) return nothing(title, "There are no phase blocks.");
  return chart({
    title,
    about: "Lengths of the blocks of each parent, the longest first.",
    make: () => ({
      grid: { left: 90, right: 30, top: 40, bottom: 60 },
      legend: {},
      tooltip: { trigger: "item", valueFormatter: number },
      xAxis: { type: "value", name: "Bases in blocks so far", min: 0, axisLabel: { formatter: compact } },
      yAxis: { type: "value", name: "Length of the block (bases)", min: 0, axisLabel: { formatter: compact } },
      series: judged.flatMap((assembly, of) =>
        parents.flatMap((parent, which) => {
          const lengths = all.filter((block) => block[0] === of && block[2] === which).map(([, bases]) => bases);
          lengths.sort((one, other) => other - one);
          if (lengths.length === 0) return [];
          let sum = 0;
          const data = [[0, lengths[0]], ...lengths.slice(0, MOST_BLOCKS).map((bases) => [(sum += bases), bases])];
          const name = short(`${assembly.name}, ${parent}`);
          return [{ name, type: "line", step: "start", showSymbol: false, data, lineStyle: { type: DASHES[which] } }];
        }),
      ),
    }),
    numbers: () => ({
      columns: [{ name: "Assembly", text: true, show: short }, { name: "Bases" }, { name: "Parent", text: true, show: short }],
      rows: all.map(([of, bases, which]) => [judged[of].name, bases, parents[which]]),
    }),
  });
}
