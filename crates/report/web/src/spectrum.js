// k-mer histograms of samples, with their models.
import { chart, nothing, tick } from "./chart.js";
import { compact, el, number, percent, short } from "./dom.js";
import { colours, DASHES } from "./palette.js";
import { filled } from "./rows.js";
import { table } from "./table.js";

/** The range of the x axis, in multiples of the coverage, and its minimum; larger counts are those of repeats. */
const COVERAGES = 6;
const LEAST = 60;
/** The range of the logarithmic axis, in multiples of that. */
const REPEATS = 20;
const MOST_ROWS = 5000;

export function spectra(all) {
  const samples = all.filter((data) => data.spectrum);
  const drawn = samples.filter((data) => data.spectrum.rows.length > 0);
  const section = el("section", { "aria-label": "k-mer spectrum" }, el("h2", {}, "k-mer spectrum"));
  if (drawn.length === 0) {
    section.append(nothing("Spectrum", "There are no k-mers: the inputs have no sequence of k bases or more."));
    return section;
  }
  for (const data of drawn.filter(({ spectrum }) => spectrum.model)) section.append(line(data, drawn.length > 1));
  section.append(picture(drawn, false), picture(drawn, true), models(samples));
  return section;
}

/** The largest count that is worth showing. */
function extent(data) {
  const { rows, model } = data.spectrum;
  if (model) return COVERAGES * model.coverage;
  // Beyond 99.5 % of the k-mers that occur more than once.
  const several = rows.filter(([count]) => count > 1);
  const total = several.reduce((sum, [, kmers]) => sum + kmers, 0);
  let sum = 0;
  for (const [count, kmers] of several) {
    sum += kmers;
    if (sum >= 0.995 * total) return 1.5 * count;
  }
  return LEAST;
}

/** The highest peak after the errors; higher values are cut off, because they would hide the peaks. */
function ceiling(drawn) {
  const heights = drawn.map(({ spectrum: { rows, model } }) => {
    const from = model ? model.from : valley(rows);
    return rows.reduce((most, [count, kmers]) => (count >= from ? Math.max(most, kmers) : most), 1);
  });
  return 1.25 * Math.max(...heights);
}

/** The minimum share of k-mers in peaks; less is noise. */
const LEAST_OF_PEAKS = 0.1;

/** The first local minimum, if there are peaks after it; otherwise 0, which shows everything. */
function valley(rows) {
  const at = rows.findIndex(([, kmers], index) => index + 1 < rows.length && rows[index + 1][1] > kmers);
  if (at < 0) return 0;
  const sum = (some) => some.reduce((all, [, kmers]) => all + kmers, 0);
  return sum(rows.slice(at)) < LEAST_OF_PEAKS * sum(rows) ? 0 : rows[at][0];
}

/** The parameters of a model in one line, by GenomeScope's names. */
function line({ sample, spectrum: { k, model } }, several) {
  const share = (value, digits = 3) => `${(100 * value).toFixed(digits)} %`;
  const { ploidy, heterozygosity: het } = model;
  const genotypes = ploidy === 2 ? [["aa", share(1 - het, 2)], ["ab", share(het)]] : ploidy > 2 ? [["het", share(het)]] : [];
  const parts = [
    ["len", `${number(Math.round(model.genome_size))} bp`],
    ["uniq", share(model.genome_size > 0 ? model.unique_size / model.genome_size : 0, 1)],
    ...genotypes,
    ["kcov", model.coverage.toFixed(1)],
    ["err", model.error_rate === null ? "–" : share(model.error_rate)],
    ...(model.bias === undefined ? [] : [["dup", model.bias.toFixed(3)]]),
    ["k", k],
    ["p", ploidy],
  ];
  return el("p", { class: "numbers" }, several ? el("strong", {}, `${short(sample)}: `) : null, parts.map(([name, value]) => el("span", {}, `${name}: ${value} `)));
}

/** At most twice MOST_ROWS rows: from a count on, each is the mean of several. */
function thinned(rows) {
  if (rows.length <= MOST_ROWS) return rows;
  const width = Math.ceil(rows.length / MOST_ROWS);
  const means = rows.slice(0, MOST_ROWS);
  for (let from = MOST_ROWS; from < rows.length; from += width) {
    const some = rows.slice(from, from + width);
    means.push([some[Math.floor(some.length / 2)][0], some.reduce((sum, [, kmers]) => sum + kmers, 0) / some.length]);
  }
  return means;
}

/** The spectra; `isLog` makes both axes logarithmic at first, which shows errors and repeats. */
function picture(drawn, isLog) {
  let [logX, logY] = [isLog, isLog];
  const single = drawn.length === 1;
  // Repeats are far to the right of the peaks.
  const near = Math.max(LEAST, ...drawn.map(extent));
  const largest = drawn.reduce((most, { spectrum: { rows } }) => Math.max(most, rows.at(-1)[0]), 1);
  const most = isLog ? Math.max(near, Math.min(REPEATS * near, 1.2 * largest)) : near;
  const cut = (rows) => thinned(filled(rows.filter(([count]) => count <= most)));
  // 0 is not on a logarithmic axis: the line has a gap there.
  const points = (rows) => cut(rows).map(([count, kmers]) => [count, logY && kmers === 0 ? null : kmers]);
  const figure = chart({
    title: `${single ? `Spectrum of ${short(drawn[0].sample)}` : "Spectra of all samples"}${isLog ? ", logarithmic" : ""}`,
    about: isLog ? "The same k-mers with logarithmic axes, which show errors at the left and repeats at the right." :
      "The number of distinct k-mers that occur once, twice, and so on. Sequencing errors make the k-mers at the left; the peaks are k-mers of the genome." +
      (drawn.some((data) => data.spectrum.model) ? " Line: the model; dotted: its peaks." : ""),
    height: 420,
    zoomed: true,
    controls: [
      tick("logarithmic counts", logX, (on) => ((logX = on), figure.redraw())),
      tick("logarithmic k-mers", logY, (on) => ((logY = on), figure.redraw())),
    ],
    make: () => option(drawn, points, { most, logX, logY, single }),
    numbers: () => ({
      columns: [{ name: "Sample", text: true, show: short }, { name: "Count" }, { name: "Distinct k-mers" }],
      rows: drawn.flatMap((data) => data.spectrum.rows.map(([count, kmers]) => [data.sample, count, kmers])),
    }),
  });
  return figure;
}

function option(drawn, points, { most, logX, logY, single }) {
  const { series: shades, muted, faint } = colours();
  const series = drawn.flatMap((data, index) => {
    const { rows, model } = data.spectrum;
    const color = shades[index % shades.length];
    const name = short(data.sample);
    const marks = single && model ? marked(model, { muted, faint }) : {};
    const observed = {
      name,
      type: "line",
      step: single ? "middle" : false,
      showSymbol: rows.length < 3,
      data: points(rows),
      lineStyle: { color, width: 1.5, type: DASHES[Math.floor(index / shades.length) % DASHES.length] },
      itemStyle: { color },
      ...(single && { areaStyle: { color, opacity: 0.25 } }),
      ...marks,
    };
    if (!model) return [observed];
    const expected = model.expected.map((kmers, count) => [count, kmers]).filter(([count, kmers]) => count > 0 && kmers > 0);
    const line = {
      name: single ? "model" : `${name}, model`,
      type: "line",
      showSymbol: false,
      data: expected.filter(([count]) => count <= 4 * most),
      lineStyle: { color: single ? shades[1] : color, width: 2, type: single ? "solid" : "dashed" },
      itemStyle: { color: single ? shades[1] : color },
    };
    return [observed, line];
  });
  return {
    grid: { left: 90, right: 20, top: 40, bottom: 80 },
    legend: { data: series.map((one) => one.name) },
    tooltip: { trigger: "axis", valueFormatter: number },
    xAxis: { type: logX ? "log" : "value", name: "Count", min: logX ? 1 : 0, max: Math.ceil(most), axisLabel: { showMaxLabel: false } },
    yAxis: {
      type: logY ? "log" : "value",
      name: "Distinct k-mers",
      min: logY ? 1 : 0,
      max: logY ? null : ceiling(drawn),
      // The ceiling is not a round number.
      axisLabel: { formatter: compact, showMaxLabel: logY },
    },
    series,
  };
}

/** Marks peaks with lines and errors with an area. */
function marked(model, { muted, faint }) {
  const peaks = Array.from({ length: model.ploidy }, (_, copy) => (copy + 1) * model.coverage);
  const label = (at, copy) => ({ xAxis: at, label: { formatter: `${copy + 1}×`, color: muted } });
  return {
    markLine: { symbol: "none", lineStyle: { color: muted, type: "dotted" }, data: peaks.map(label) },
    markArea: {
      itemStyle: { color: faint, opacity: 0.6 },
      label: { color: muted, position: ["102%", 4] },
      data: [[{ name: "errors", xAxis: 0 }, { xAxis: model.from }]],
    },
  };
}

/** The table of the models' parameters. */
function models(samples) {
  const row = ({ sample, spectrum: { k, rows, model } }) => {
    const distinct = rows.reduce((sum, [, kmers]) => sum + kmers, 0);
    const total = rows.reduce((sum, [count, kmers]) => sum + count * kmers, 0);
    const of = (get) => (model ? get(model) : null);
    return [
      sample,
      k,
      distinct,
      total,
      of((it) => it.ploidy),
      of((it) => Math.round(it.genome_size)),
      of((it) => (it.ploidy > 1 ? it.heterozygosity : null)),
      of((it) => it.coverage),
      of((it) => it.error_rate),
      of((it) => it.explained),
    ];
  };
  const share = (name) => ({ name, show: (value) => percent(value, 3) });
  return table({
    title: "Genome models",
    columns: [
      { name: "Sample", text: true, show: short },
      { name: "k" },
      { name: "Distinct k-mers" },
      { name: "All k-mers" },
      { name: "Ploidy" },
      { name: "Genome size (bases)" },
      share("Heterozygosity"),
      { name: "k-mer coverage" },
      share("Errors per base"),
      share("Explained"),
    ],
    rows: samples.map(row),
  });
}
