// The first records of inputs: qualities and bases by position, lengths, and GC.
import { histogram } from "./bars.js";
import { chart, nothing } from "./chart.js";
import { compact, el, freshId, number, percent, short } from "./dom.js";
import { colours, DASHES } from "./palette.js";
import { oneOf } from "./pick.js";
import { searchField, table } from "./table.js";

/** The maximum number of inputs of a sample whose bases are drawn, and of inputs with quartiles in one chart. */
const MOST = 8;
const WITH_QUARTILES = 2;
/** The number of rows from which a table has a search field. */
const MANY = 12;
const BASES = ["A", "C", "G", "T", "other"];

export function reads(all) {
  const samples = all.filter((data) => data.reads?.length > 0);
  return el(
    "section",
    { "aria-label": "First reads of the inputs" },
    el("h2", {}, "First reads of the inputs"),
    el("p", {}, `Lengths, qualities and bases of the first ${number(Math.max(...samples.flatMap((data) => data.reads.map(({ records }) => records))))} records or fewer of each input, as they are in the file.`),
    overview(samples),
    ...oneOf(samples, sample),
  );
}

const sumOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
/** The numbers of A, C, G, T and other letters of an input. */
const lettersOf = ({ letters }) => BASES.map((_, base) => sumOf(letters.map((group) => group[base])));

function meanQuality({ letters, qualities }) {
  if (!qualities) return null;
  const bases = letters.map(sumOf);
  return sumOf(qualities.map(([mean], at) => mean * bases[at])) / Math.max(1, sumOf(bases));
}

/** The table of all inputs. */
function overview(samples) {
  const rows = samples.flatMap(({ sample, reads }) =>
    reads.map((of) => {
      const [a, c, g, t, other] = lettersOf(of);
      const known = a + c + g + t;
      return [sample, of.n, of.records, of.bases, of.records > 0 ? of.bases / of.records : null, known > 0 ? (c + g) / known : null, of.bases > 0 ? other / of.bases : null, meanQuality(of), of.is_whole];
    }),
  );
  const title = "First reads of the inputs, in numbers";
  const { field, finds } = searchField("sample or input", () => whole.select());
  const digit = (value) => (value === null ? "–" : number(Math.round(10 * value) / 10));
  const whole = table({
    title,
    columns: [
      { name: "Sample", text: true, show: short },
      { name: "Input", text: true, show: short },
      // The last value of a row tells whether the input has no more records.
      { name: "Records", show: (value, row) => `${row.at(-1) ? "all" : "first"} ${number(value)}` },
      { name: "Bases" },
      { name: "Mean length", show: digit },
      { name: "GC", show: (value) => percent(value, 1) },
      { name: "Not A, C, G or T", show: (value) => percent(value) },
      { name: "Mean quality", show: digit },
    ],
    rows,
    filters: rows.length > MANY ? [field] : [],
    keeps: ([sample, name]) => finds(sample, name),
  });
  return el("figure", {}, el("figcaption", { id: freshId() }, el("h3", {}, title)), whole);
}

function sample({ sample: name, reads: all }) {
  const inputs = all.slice(0, MOST);
  const of = (what) => `${what}, ${short(name)}`;
  const counted = ` From ${inputs.map(({ n, records, is_whole }) => `${short(n, 40)} (${is_whole ? "all" : "first"} ${number(records)} records)`).join(", ")}.`;
  if (inputs.every(({ records }) => records === 0)) return [nothing(of("First reads"), "There are no reads.")];
  const some = inputs.filter(({ letters }) => letters.length > 0);
  const step = Math.max(...inputs.map((input) => input.step));
  return [
    quality(of("Quality by position"), counted, some.filter(({ qualities }) => qualities)),
    ...some.map((input) => bases(inputs.length > 1 ? `Bases by position, ${short(input.n)}` : of("Bases by position"), input)),
    lengths(of("Lengths of reads"), counted, inputs, step),
    histogram({
      title: of("GC of reads"),
      about: `Reads by the share of G and C among their bases.${counted}`,
      axis: "GC (%)",
      unit: "Reads",
      samples: inputs.map(({ n, gc }) => [n, gc]),
      lines: true,
      first: "Input",
    }),
  ].filter(Boolean);
}

/** The first position of a group, and a name of the group. */
const place = (step, at) => at * step + 1;
const named = (step, at, end) => (step === 1 ? String(at + 1) : `${number(place(step, at))} to ${number(Math.min((at + 1) * step, end))}`);

/** The mean of the qualities by position, with quartiles if there are few inputs. */
function quality(title, counted, inputs) {
  if (inputs.length === 0) return null;
  const banded = inputs.length <= WITH_QUARTILES;
  const longest = Math.max(...inputs.map(({ step, qualities }) => place(step, qualities.length - 1)));
  const data = (input, value) => input.qualities.map((row, at) => [place(input.step, at), value(row)]);
  const hidden = { type: "line", showSymbol: false, silent: true, lineStyle: { opacity: 0 }, emphasis: { disabled: true } };
  /** Two lines of the input's name, so that the legend hides them together: the first quartile, and the area up to the third. */
  const band = (input, colour, index) => [
    { ...hidden, name: short(input.n), stack: `input ${index}`, color: colour, data: data(input, ([, first]) => first) },
    { ...hidden, name: short(input.n), stack: `input ${index}`, color: colour, areaStyle: { color: colour, opacity: 0.2 }, data: data(input, ([, first, , third]) => third - first) },
  ];
  const tooltip = ([{ axisValue }]) => {
    const lines = inputs.flatMap((input) => {
      const at = Math.floor((axisValue - 1) / input.step);
      if (!input.qualities[at]) return [];
      const [mean, first, median, third] = input.qualities[at];
      return [`${short(input.n)}: mean ${mean.toFixed(1)}, quartiles ${first}, ${median}, ${third}`];
    });
    const { step, qualities } = inputs[0];
    return [`Position ${named(step, Math.floor((axisValue - 1) / step), step * qualities.length)}`, ...lines].join("\n");
  };
  return chart({
    title,
    about: `Mean of the Phred qualities of the bases at each position${banded ? "; half of the bases are in the area, from the first to the third quartile" : ""}.${counted}`,
    zoomed: true,
    make: () => {
      const { series: shades } = colours();
      return {
        grid: { left: 90, right: 20, top: 40, bottom: 80 },
        legend: { show: inputs.length > 1, data: inputs.map(({ n }) => short(n)) },
        tooltip: { trigger: "axis", formatter: tooltip },
        xAxis: { type: "value", name: "Position (bases)", min: 1, max: Math.max(2, longest), axisLabel: { formatter: compact } },
        yAxis: { type: "value", name: "Quality (Phred)", min: 0 },
        series: inputs.flatMap((input, index) => {
          const color = shades[index % shades.length];
          const mean = { name: short(input.n), type: "line", color, showSymbol: input.qualities.length < 3, data: data(input, ([mean]) => mean), lineStyle: { width: 2, type: DASHES[Math.floor(index / shades.length) % DASHES.length] } };
          return [mean, ...(banded ? band(input, color, index) : [])];
        }),
      };
    },
    numbers: () => ({
      columns: [{ name: "Input", text: true, show: short }, { name: "From position" }, { name: "Mean" }, { name: "First quartile" }, { name: "Median" }, { name: "Third quartile" }],
      rows: inputs.flatMap(({ n, step, qualities }) => qualities.map((row, at) => [n, place(step, at), ...row])),
    }),
  });
}

/** The shares of the bases by position. */
function bases(title, { n, step, letters, records, is_whole }) {
  const share = (group, base) => (100 * group[base]) / Math.max(1, sumOf(group));
  return chart({
    title,
    about: `Shares of the bases at each position, of ${is_whole ? "all" : "the first"} ${number(records)} records of ${short(n, 40)}.`,
    height: 320,
    zoomed: true,
    make: () => {
      const { series: shades, muted } = colours();
      // Green, blue, orange and red-like hues are usual; dashes distinguish them, too.
      const of = [shades[2], shades[0], shades[4], shades[1], muted];
      return {
        grid: { left: 90, right: 20, top: 40, bottom: 80 },
        legend: {},
        tooltip: { trigger: "axis", valueFormatter: (value) => `${number(value)} %` },
        xAxis: { type: "value", name: "Position (bases)", min: 1, max: Math.max(2, place(step, letters.length - 1)), axisLabel: { formatter: compact } },
        yAxis: { type: "value", name: "Bases (%)", min: 0 },
        series: BASES.map((base, at) => ({
          name: base,
          type: "line",
          color: of[at],
          showSymbol: letters.length < 3,
          data: letters.map((group, position) => [place(step, position), share(group, at)]),
          lineStyle: { width: 1.5, type: DASHES[at % DASHES.length] },
        })),
      };
    },
    numbers: () => ({
      columns: [{ name: "From position" }, ...BASES.map((base) => ({ name: base }))],
      rows: letters.map((group, at) => [place(step, at), ...group]),
    }),
  });
}

/** The lengths of the reads; a text if all have the same. */
function lengths(title, counted, inputs, step) {
  const seen = new Set(inputs.flatMap((input) => input.lengths.map(([length]) => length)));
  if (seen.size === 1 && step === 1) {
    const [length] = seen;
    return nothing(title, `All reads have ${number(length)} ${length === 1 ? "base" : "bases"}.${counted}`);
  }
  return histogram({
    title,
    about: `Reads by their number of bases${step > 1 ? `, in groups of up to ${number(step)} lengths` : ""}.${counted}`,
    axis: "Length (bases)",
    unit: "Reads",
    samples: inputs.map((input) => [input.n, input.lengths]),
    lines: true,
    first: "Input",
    steps: inputs.map((input) => input.step),
  });
}
