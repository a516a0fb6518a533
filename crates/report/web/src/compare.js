// Comparison of samples: the largest taxa of a rank, the dissimilarity of samples, and a map of it.
import { chart, choice, nothing } from "./chart.js";
import { clustered, distances, diversity } from "./diversity.js";
import { el, freshId, number, percent, short } from "./dom.js";
import { beside } from "./labels.js";
import { FONT, widthOf } from "./measure.js";
import { colours, SYMBOLS } from "./palette.js";
import { searchField, table } from "./table.js";
import { colourOf } from "./taxcolours.js";
import { atRank, RANKS } from "./taxonomy.js";

const LARGEST = 7;
/** The maximum number of samples in a heatmap. */
const MOST = 200;
/** The maximum number of samples in a heatmap with numbers in its cells. */
const MOST_WRITTEN = 12;

export function compare(all) {
  const samples = all.filter((data) => data.taxa && data.taxa.reads > 0);
  if (samples.length < 2) return null;
  const section = el("section", { "aria-label": "Comparison of samples" }, el("h2", {}, "Comparison of samples"));
  const ranks = RANKS.filter(([code]) => samples.some(({ taxa }) => taxa.rows.some(({ r }) => r === code)));
  if (ranks.length === 0) {
    section.append(nothing("Comparison", "No sample has a taxon of a main rank."));
    return section;
  }
  const place = el("div");
  const show = (rank) => {
    place.replaceChildren(...pictures(samples, rank));
    section.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  };
  // The lowest rank is the most informative one.
  const options = [...ranks].reverse();
  section.append(el("p", { class: "tools" }, choice("Rank", options, show)), place);
  show(options[0][0]);
  return section;
}

function pictures(samples, rank) {
  const columns = samples.map(({ sample, taxa }) => ({ sample, taxa, ...atRank(taxa, rank) }));
  const some = columns.slice(0, MOST);
  const unlike = distances(some.map(({ reads }) => reads));
  const order = clustered(unlike);
  const inOrder = order.map((at) => some[at]);
  const sorted = order.map((one) => order.map((other) => unlike[one][other]));
  return [bars(columns, rank), together(columns, rank), shares(inOrder, rank), diversities(columns, rank), heatmap(inOrder, sorted), map(some, unlike)].filter(Boolean);
}

/** The room for names of samples at the left of a chart, and their size. */
const SIZE = 12;
const roomOf = (names) => 16 + Math.max(30, ...names.map((name) => widthOf(name, SIZE)));

/** The maximum number of samples in a table. */
const MOST_COLUMNS = 40;

/** The table of taxa by samples, which can be searched. */
function together(columns, rank) {
  const shown = columns.slice(0, MOST_COLUMNS);
  const names = [...new Set(shown.flatMap(({ reads }) => [...reads.keys()]))];
  const share = ({ reads, taxa }, name) => (reads.get(name) ?? 0) / taxa.reads;
  const rest = [
    ["higher taxa", shown.map(({ above, taxa }) => above / taxa.reads)],
    ["unclassified", shown.map(({ taxa }) => taxa.unclassified / taxa.reads)],
  ];
  const rows = names.map((name) => [name, ...shown.map((column) => share(column, name))]);
  const sum = ([, ...parts]) => parts.reduce((all, part) => all + part, 0);
  rows.sort((one, other) => sum(other) - sum(one) || (one[0] < other[0] ? -1 : 1));
  const { field, finds } = searchField("name", () => whole.select());
  const title = `Taxa by sample (${nameOf(rank)})`;
  const show = (value) => (value === 0 ? "–" : percent(value));
  const whole = table({
    title,
    columns: [{ name: "Taxon", text: true, show: (name) => short(name, 100) }, ...shown.map(({ sample }) => ({ name: short(sample, 30), show, heat: (value) => value }))],
    rows: [...rows, ...rest.map(([name, parts]) => [name, ...parts])],
    perPage: 15,
    filters: [field],
    keeps: ([name]) => finds(name),
  });
  const cut = columns.length > MOST_COLUMNS ? ` The first ${MOST_COLUMNS} of ${number(columns.length)} samples.` : "";
  return figure(title, `Shares of each sample's reads.${cut}`, whole);
}

const figure = (title, about, content) => el("figure", {}, el("figcaption", { id: freshId() }, el("h3", {}, title), el("p", {}, about)), content);

/** The diversity of each sample. */
function diversities(columns, rank) {
  const digits = (value) => (value === null ? "–" : value.toFixed(3));
  const rows = columns.map(({ sample, reads }) => {
    const { richness, shannon, simpson, evenness } = diversity(reads.values());
    return [sample, [...reads.values()].reduce((sum, many) => sum + many, 0), richness, shannon, simpson, evenness];
  });
  const whole = table({
    title: "Diversity of samples",
    columns: [
      { name: "Sample", text: true, show: short },
      { name: `Reads with a ${nameOf(rank)}` },
      { name: "Taxa" },
      { name: "Shannon", show: digits },
      { name: "Simpson", show: digits },
      { name: "Evenness", show: digits },
    ],
    rows,
  });
  return figure("Diversity of samples", "Of the taxa of the rank: Shannon's index (natural logarithm), Simpson's index (1 − Σp²), and Shannon's index divided by its maximum.", whole);
}

/** The maximum number of taxa in the heatmap. */
const MOST_TAXA = 30;

/** The heatmap of taxa and samples, both in the order of their similarity. */
function shares(columns, rank) {
  const share = ({ reads, taxa }, name) => (reads.get(name) ?? 0) / taxa.reads;
  const names = [...new Set(columns.flatMap(({ reads }) => [...reads.keys()]))];
  const sum = new Map(names.map((name) => [name, columns.reduce((all, column) => all + share(column, name), 0)]));
  const largest = names.filter((name) => sum.get(name) > 0).sort((a, b) => sum.get(b) - sum.get(a) || (a < b ? -1 : 1)).slice(0, MOST_TAXA);
  if (largest.length < 2) return null;
  const profiles = largest.map((name) => new Map(columns.map((column, at) => [at, share(column, name)])));
  const rows = clustered(distances(profiles)).map((at) => largest[at]);
  const samples = columns.map(({ sample }) => short(sample, 30));
  const taxa = rows.map((name) => short(name));
  const least = 1e-4;
  const bottom = 10 + (Math.max(...samples.map((name) => widthOf(name, SIZE))) + 20) * 0.72;
  return chart({
    title: `Heatmap of taxa and samples (${nameOf(rank)})`,
    about: `Shares of reads of the ${rows.length} largest taxa, on a logarithmic scale from 0.01 %. Similar taxa and similar samples are side by side (average linkage of Bray–Curtis dissimilarities).`,
    height: 60 + bottom + 18 * rows.length,
    width: Math.min(3000, 420 + 22 * columns.length),
    make: () => {
      const { paper, ink, faint, series } = colours();
      return {
        grid: { left: roomOf(taxa), right: 90, top: 10, bottom },
        tooltip: { trigger: "item", formatter: ({ data: [x, y, , part] }) => `${taxa[y]}, ${samples[x]}: ${percent(part, 3)}` },
        xAxis: { type: "category", data: samples, axisLabel: { rotate: 45, interval: 0, hideOverlap: false } },
        yAxis: { type: "category", data: taxa, inverse: true, axisLabel: { interval: 0, hideOverlap: false } },
        visualMap: {
          min: Math.log10(least), max: 0, dimension: 2, orient: "vertical", right: 4, top: "middle", calculable: false,
          inRange: { color: [paper, series[0]] }, textStyle: { color: ink }, text: ["100 %", "0.01 %"],
        },
        series: [
          {
            type: "heatmap",
            itemStyle: { borderColor: faint, borderWidth: 0.5 },
            data: rows.flatMap((name, y) => columns.flatMap((column, x) => {
              const part = share(column, name);
              return part > 0 ? [[x, y, Math.log10(Math.max(least, part)), part]] : [];
            })),
          },
        ],
      };
    },
    numbers: () => ({
      columns: [{ name: "Taxon", text: true, show: short }, { name: "Sample", text: true, show: short }, { name: "Share", show: (value) => percent(value, 4) }],
      rows: rows.flatMap((name) => columns.map((column) => [name, column.sample, share(column, name)])),
    }),
  });
}

/** The maximum number of characters of a taxon's name in the legend. */
const LONGEST = 60;

/** The number of lines of a legend. */
function lines(kinds, width) {
  const square = 45;
  let [lines, at] = [1, 0];
  for (const [name] of kinds) {
    const item = square + widthOf(short(name, LONGEST), SIZE);
    if (at > 0 && at + item > width) (lines++, (at = 0));
    at += item;
  }
  return lines;
}

const nameOf = (rank) => RANKS.find(([code]) => code === rank)[1].toLowerCase();

function bars(columns, rank) {
  const sums = new Map();
  for (const { reads, taxa } of columns) for (const [name, many] of reads) sums.set(name, (sums.get(name) ?? 0) + many / taxa.reads);
  const largest = [...sums].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).slice(0, LARGEST).map(([name]) => name);
  const of = {
    others: ({ reads }) => [...reads].reduce((sum, [name, many]) => (largest.includes(name) ? sum : sum + many), 0),
    "higher taxa": ({ above }) => above,
    unclassified: ({ taxa }) => taxa.unclassified,
  };
  const rows = new Map(columns.flatMap(({ taxa }) => taxa.rows.filter(({ r, n }) => r === rank && largest.includes(n)).map((row) => [row.n, row])));
  const samples = columns.map(({ sample }) => short(sample, 40));
  const kinds = [...largest.map((name) => [name, ({ reads }) => reads.get(name) ?? 0]), ...Object.entries(of)];
  return chart({
    title: `Reads by ${nameOf(rank)}`,
    about: `The shares of the ${largest.length} largest taxa of the rank in each sample's reads.`,
    height: (width) => 24 * lines(kinds, width) + 10 + 50 + Math.max(60, 26 * columns.length),
    make: (width) => {
      const { other, muted, faint, paper } = colours();
      const top = 24 * lines(kinds, width) + 10;
      const greys = [faint, muted, other];
      return {
        grid: { left: Math.min(width / 3, roomOf(samples)), right: 30, top, bottom: 50 },
        tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (value) => percent(value / 100) },
        xAxis: { type: "value", name: "Share of reads (%)", min: 0, max: 100 },
        yAxis: { type: "category", inverse: true, data: samples, axisLabel: { width: Math.min(width / 3, roomOf(samples)) - 12, overflow: "truncate" } },
        // The whole legend, for print; a scrollable one would show only a part.
        legend: { type: "plain" },
        series: kinds.map(([name, get], index) => ({
          name: short(name, LONGEST),
          type: "bar",
          stack: "all",
          itemStyle: { color: index < largest.length ? colourOf(rows.get(name)) : greys[index - largest.length], borderColor: paper, borderWidth: 0.5 },
          data: columns.map((column) => (100 * get(column)) / column.taxa.reads),
        })),
      };
    },
    numbers: () => ({
      columns: [{ name: "Sample", text: true, show: short }, { name: "Taxon", text: true, show: short }, { name: "Reads" }],
      rows: columns.flatMap((column) => [
        ...[...column.reads].map(([name, many]) => [column.sample, name, many]),
        [column.sample, "higher taxa", column.above],
        [column.sample, "unclassified", column.taxa.unclassified],
      ]),
    }),
  });
}

function heatmap(columns, unlike) {
  const names = columns.map(({ sample }) => short(sample, 30));
  const side = Math.min(900, Math.max(340, 170 + 22 * columns.length));
  return chart({
    title: "Dissimilarity of samples",
    about: `Bray–Curtis dissimilarity of each pair of samples: 0 for equal shares of taxa, 1 for no common taxon. Similar samples are side by side.`,
    height: side,
    width: side,
    make: () => {
      const { paper, ink, faint, series } = colours();
      return {
        grid: { left: roomOf(names), right: 100, top: 10, bottom: 10 + (Math.max(...names.map((name) => widthOf(name, SIZE))) + 20) * 0.72 },
        tooltip: { trigger: "item", formatter: ({ data: [x, y, value] }) => `${names[x]}, ${names[y]}: ${value.toFixed(3)}` },
        xAxis: { type: "category", data: names, axisLabel: { rotate: 45 } },
        yAxis: { type: "category", data: names, inverse: true },
        visualMap: { min: 0, max: 1, dimension: 2, orient: "vertical", right: 0, top: "middle", calculable: true, inRange: { color: [paper, series[0]] }, textStyle: { color: ink } },
        series: [
          {
            type: "heatmap",
            itemStyle: { borderColor: faint, borderWidth: 0.5 },
            label: { show: columns.length <= MOST_WRITTEN, formatter: ({ data }) => data[2].toFixed(2) },
            data: unlike.flatMap((row, y) => row.flatMap((value, x) => (value === null ? [] : [[x, y, value]]))),
          },
        ],
      };
    },
    numbers: () => ({
      columns: [{ name: "Sample", text: true, show: short }, { name: "Other sample", text: true, show: short }, { name: "Dissimilarity" }],
      rows: unlike.flatMap((row, y) => row.map((value, x) => [columns[y].sample, columns[x].sample, value])),
    }),
  });
}

/** The first two principal coordinates (Gower, 1966) of the dissimilarities, by power iteration. */
function coordinates(unlike) {
  const n = unlike.length;
  const squares = unlike.map((row) => row.map((value) => -0.5 * (value ?? 1) ** 2));
  const means = squares.map((row) => row.reduce((sum, value) => sum + value, 0) / n);
  const mean = means.reduce((sum, value) => sum + value, 0) / n;
  let matrix = squares.map((row, y) => row.map((value, x) => value - means[y] - means[x] + mean));
  const trace = matrix.reduce((sum, row, at) => sum + Math.max(0, row[at]), 0);
  const axes = [];
  for (let axis = 0; axis < 2; axis++) {
    // Any start vector with different entries.
    let vector = Array.from({ length: n }, (_, at) => Math.sin(1 + at * (axis + 1)));
    let value = 0;
    for (let step = 0; step < 500; step++) {
      const next = matrix.map((row) => row.reduce((sum, entry, at) => sum + entry * vector[at], 0));
      value = Math.hypot(...next);
      if (value < 1e-12) break;
      vector = next.map((entry) => entry / value);
    }
    const own = matrix.map((row) => row.reduce((sum, entry, at) => sum + entry * vector[at], 0)).reduce((sum, entry, at) => sum + entry * vector[at], 0);
    const scale = Math.sqrt(Math.max(0, own));
    axes.push({ values: vector.map((entry) => entry * scale), share: trace > 0 ? Math.max(0, own) / trace : 0 });
    matrix = matrix.map((row, y) => row.map((entry, x) => entry - own * vector[y] * vector[x]));
  }
  return axes;
}

/** The frame of the map, and its height. */
const MAP = { left: 90, right: 60, top: 20, bottom: 60, height: 420 };

function map(columns, unlike) {
  if (columns.length < 3) return nothing("Map of samples", "A map needs at least three samples.");
  const axes = coordinates(unlike);
  const names = columns.map(({ sample }) => short(sample, 40));
  const ranges = axes.map(({ values }) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const margin = 0.1 * Math.max(most - least, 0.01);
    return [least - margin, most + margin];
  });
  const axis = (which, nameGap) => ({
    type: "value",
    name: `Coordinate ${which + 1} (${percent(axes[which].share, 0)})`,
    min: ranges[which][0],
    max: ranges[which][1],
    nameGap,
    axisLine: { onZero: false },
    axisLabel: { formatter: (value) => number(Number(value.toFixed(3))), showMinLabel: false, showMaxLabel: false },
  });
  return chart({
    title: "Map of samples",
    about: "Principal coordinates of the dissimilarities: similar samples are close together.",
    height: MAP.height,
    make: (width) => ({
      grid: { left: MAP.left, right: MAP.right, top: MAP.top, bottom: MAP.bottom },
      tooltip: { trigger: "item", formatter: ({ data: [, , name] }) => name },
      xAxis: axis(0, 30),
      yAxis: axis(1, 56),
      graphic: labels(names, axes, { ranges, width }),
      series: [{ type: "scatter", symbol: SYMBOLS[0], symbolSize: 12, data: names.map((name, at) => [axes[0].values[at], axes[1].values[at], name]) }],
    }),
    numbers: () => ({
      columns: [{ name: "Sample", text: true, show: short }, { name: "Coordinate 1" }, { name: "Coordinate 2" }],
      rows: columns.map(({ sample }, at) => [sample, axes[0].values[at], axes[1].values[at]]),
    }),
  });
}

/** The names of the samples, where there is room for them. */
function labels(names, axes, { ranges, width }) {
  const part = (which, at) => (axes[which].values[at] - ranges[which][0]) / (ranges[which][1] - ranges[which][0]);
  const points = names.map((_, at) => [MAP.left + part(0, at) * (width - MAP.left - MAP.right), MAP.height - MAP.bottom - part(1, at) * (MAP.height - MAP.top - MAP.bottom)]);
  const sizes = names.map((name) => [widthOf(name, SIZE) + 2, SIZE + 2]);
  const places = beside(points, sizes, [MAP.left + 2, 2, width - 4, MAP.height - MAP.bottom - 2]);
  return places.flatMap((place, at) => (place === null ? [] : [{ type: "text", silent: true, z: 10, style: { text: names[at], x: place[0] + 1, y: place[1] + 1, fill: colours().ink, font: `${SIZE}px ${FONT}` } }]));
}
