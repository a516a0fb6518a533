// Comparison of samples: the largest taxa of a rank, the dissimilarity of samples, and a map of it.
import { chart, choice, nothing } from "./chart.js";
import { el, number, percent, short } from "./dom.js";
import { colours, SYMBOLS } from "./palette.js";
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
  const unlike = distances(columns.slice(0, MOST));
  return [bars(columns, rank), heatmap(columns.slice(0, MOST), unlike), map(columns.slice(0, MOST), unlike)];
}

/** The maximum number of characters of a taxon's name in the legend. */
const LONGEST = 32;

/** The approximate number of lines of a legend. */
function lines(kinds, width) {
  const [perLetter, perItem] = [7, 45];
  const all = kinds.reduce((sum, [name]) => sum + perItem + perLetter * short(name, LONGEST).length, 0);
  return Math.ceil((1.1 * all) / Math.max(200, width));
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
  const kinds = [...largest.map((name) => [name, ({ reads }) => reads.get(name) ?? 0]), ...Object.entries(of)];
  return chart({
    title: `Reads by ${nameOf(rank)}`,
    about: `The shares of the ${largest.length} largest taxa of the rank in each sample's reads.`,
    height: Math.max(280, 160 + 26 * columns.length),
    make: (width) => {
      const { series: shades, other, muted, faint, paper } = colours();
      const top = 24 * lines(kinds, width) + 10;
      const greys = [other, muted, faint];
      return {
        grid: { left: 150, right: 30, top, bottom: 50 },
        tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (value) => percent(value / 100) },
        xAxis: { type: "value", name: "Share of reads (%)", min: 0, max: 100 },
        yAxis: { type: "category", inverse: true, data: columns.map(({ sample }) => short(sample, 40)), axisLabel: { width: 140, overflow: "truncate" } },
        // The whole legend, for print; a scrollable one would show only a part.
        legend: { type: "plain" },
        series: kinds.map(([name, get], index) => ({
          name: short(name, LONGEST),
          type: "bar",
          stack: "all",
          itemStyle: { color: index < largest.length ? shades[index % (shades.length - 1)] : greys[index - largest.length], borderColor: paper, borderWidth: 0.5 },
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

/** Bray–Curtis dissimilarities (1957) of the shares of the taxa of a rank: 0 for equal shares, 1 for no common taxon. */
function distances(columns) {
  const shares = columns.map(({ reads }) => {
    const sum = [...reads.values()].reduce((all, many) => all + many, 0);
    return new Map([...reads].map(([name, many]) => [name, sum > 0 ? many / sum : 0]));
  });
  return shares.map((one) =>
    shares.map((other) => {
      let common = 0;
      for (const [name, share] of one) common += Math.min(share, other.get(name) ?? 0);
      return one.size === 0 || other.size === 0 ? null : Math.max(0, 1 - common);
    }),
  );
}

function heatmap(columns, unlike) {
  const names = columns.map(({ sample }) => short(sample, 30));
  const side = Math.min(900, Math.max(340, 170 + 22 * columns.length));
  return chart({
    title: "Dissimilarity of samples",
    about: `Bray–Curtis dissimilarity of each pair of samples: 0 for equal shares of taxa, 1 for no common taxon.`,
    height: side,
    make: () => {
      const { paper, ink, faint, series } = colours();
      return {
        grid: { left: 150, right: 100, top: 10, bottom: 90 },
        tooltip: { trigger: "item", formatter: ({ data: [x, y, value] }) => `${names[x]}, ${names[y]}: ${value.toFixed(3)}` },
        xAxis: { type: "category", data: names, axisLabel: { rotate: 45, width: 110, overflow: "truncate" } },
        yAxis: { type: "category", data: names, inverse: true, axisLabel: { width: 140, overflow: "truncate" } },
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

function map(columns, unlike) {
  if (columns.length < 3) return nothing("Map of samples", "A map needs at least three samples.");
  const [first, second] = coordinates(unlike);
  const axis = (which, { share }) => `Coordinate ${which} (${percent(share, 0)})`;
  return chart({
    title: "Map of samples",
    about: "Principal coordinates of the dissimilarities: similar samples are close together.",
    height: 420,
    make: () => {
      const { ink } = colours();
      return {
        grid: { left: 90, right: 60, top: 20, bottom: 60 },
        tooltip: { trigger: "item", formatter: ({ data: [, , name] }) => name },
        xAxis: { type: "value", scale: true, name: axis(1, first), axisLine: { onZero: false }, axisLabel: { formatter: number } },
        yAxis: { type: "value", scale: true, name: axis(2, second), axisLine: { onZero: false }, axisLabel: { formatter: number } },
        series: [
          {
            type: "scatter",
            symbol: SYMBOLS[0],
            symbolSize: 12,
            label: { show: columns.length <= 30, position: "right", color: ink, formatter: ({ data: [, , name] }) => name },
            labelLayout: { hideOverlap: true },
            data: columns.map(({ sample }, at) => [first.values[at], second.values[at], short(sample, 24)]),
          },
        ],
      };
    },
    numbers: () => ({
      columns: [{ name: "Sample", text: true, show: short }, { name: "Coordinate 1" }, { name: "Coordinate 2" }],
      rows: columns.map(({ sample }, at) => [sample, first.values[at], second.values[at]]),
    }),
  });
}
