// Whose reads these are: a sunburst, flows from rank to rank, all taxa as a table, and how well each is covered.
import { chart, choice, nothing } from "./chart.js";
import { compact, el, number, percent, short } from "./dom.js";
import { colours } from "./palette.js";
import { table } from "./table.js";
import { isMain, largest, nearest, RANK_NAMES, RANKS } from "./taxonomy.js";

/** Taxa of a sunburst and a flow, at most. */
const MOST = 400;
const MOST_OF_RANK = 12;
const MOST_POINTS = 5000;

export function taxa(all) {
  const samples = all.filter((data) => data.taxa);
  const section = el("section", { "aria-label": "Taxa" }, el("h2", {}, "Taxa"), shares(samples));
  const place = el("div");
  // Only one sample is drawn at a time.
  const show = (index) => {
    place.replaceChildren(...sample(samples[index]));
    section.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  };
  if (samples.length > 1) {
    const names = samples.map((data, index) => [String(index), short(data.sample)]);
    section.append(el("p", { class: "tools" }, choice("Sample", names, (value) => show(Number(value)))));
  }
  section.append(place);
  show(0);
  return section;
}

const shares = (samples) =>
  table({
    title: "Classified reads",
    columns: [
      { name: "Sample", text: true, show: short },
      { name: "Reads" },
      { name: "Classified" },
      { name: "Unclassified" },
      { name: "Share unclassified", show: (value) => percent(value) },
      { name: "Taxa" },
    ],
    rows: samples.map(({ sample, taxa: { reads, unclassified, rows } }) => [
      sample,
      reads,
      reads - unclassified,
      unclassified,
      reads > 0 ? unclassified / reads : null,
      rows.length,
    ]),
  });

function sample(data) {
  const { taxa: of } = data;
  const name = short(data.sample);
  if (of.reads === 0) return [nothing(`Taxa of ${name}`, "There are no reads.")];
  const figures = [];
  if (of.rows.length === 0) figures.push(nothing(`Taxa of ${name}`, "No read has a taxon."));
  else figures.push(sunburst(data), sankey(data), evidence(data));
  figures.push(all(data));
  return figures.filter(Boolean);
}

function sunburst(data) {
  const { taxa: of } = data;
  const title = `Sunburst of ${short(data.sample)}`;
  const kept = largest(of, MOST);
  const above = nearest(of, isMain);
  let drawn = null;
  const find = el("input", { type: "search", placeholder: "name or taxid" });
  const told = el("span", { role: "status" });
  const search = () => {
    const wanted = find.value.trim().toLowerCase();
    const is = ({ n, t }) => String(t) === wanted || n.toLowerCase().includes(wanted);
    const exact = ({ n, t }) => String(t) === wanted || n.toLowerCase() === wanted;
    const rows = [...kept];
    const at = rows.find((index) => exact(of.rows[index])) ?? rows.find((index) => is(of.rows[index]));
    told.textContent = wanted === "" ? "" : at === undefined ? "not among the largest taxa: the table has all" : short(of.rows[at].n);
    if (drawn) drawn.dispatchAction({ type: "sunburstRootToNode", targetNode: wanted === "" || at === undefined ? "root" : `t${at}` });
  };
  find.addEventListener("change", search);
  return chart({
    title,
    about: `Reads by taxon of the main ranks, from the middle outwards; a click goes into a taxon, one in the middle back.${kept.size === MOST ? ` The ${MOST} largest taxa; the table has all ${number(of.rows.length)}.` : ""}`,
    height: 640,
    width: 720,
    controls: [
      el("label", {}, "Find ", find),
      el("button", { type: "button", onclick: search }, "Go to"),
      el("button", { type: "button", onclick: () => ((find.value = ""), search()) }, "All"),
      told,
    ],
    onReady: (chart) => (drawn = chart),
    make: () => ({
      tooltip: { trigger: "item", formatter: ({ name, value }) => `${name}\n${number(value)} reads, ${percent(value / of.reads)}` },
      series: [
        {
          type: "sunburst",
          id: "taxa",
          nodeClick: "rootToNode",
          sort: null,
          data: [{ ...tree(of, kept, above), id: "root" }],
          levels: levels(),
          itemStyle: { borderColor: colours().paper, borderWidth: 1 },
          emphasis: { focus: "ancestor" },
        },
      ],
    }),
    numbers: () => numbersOf(of),
  });
}

/** Names along the rings, where an arc is long enough for one; around them, as far as species go. */
function levels() {
  const { ink } = colours();
  // Of half the chart's height: the way back, all reads, and a ring for each rank.
  const [back, inner, ring, width] = [14, 32, 27, 92];
  const label = { rotate: "tangential", width, overflow: "truncate", color: "#000000", fontSize: 11 };
  const rings = Array.from({ length: RANKS.length }, (_, at) => {
    const [r0, r] = [inner + at * ring, inner + (at + 1) * ring];
    const minAngle = Math.min(359, ((1.1 * width) / ((r0 + r) / 2)) * (180 / Math.PI));
    return { r0, r, label: { ...label, minAngle } };
  });
  const last = rings.at(-1);
  last.label = { ...label, rotate: "radial", position: "outside", minAngle: 2, width: 110, color: ink, silent: true };
  return [{ r0: 0, r: back, label: { show: false } }, { r0: back, r: inner, label: { show: false } }, ...rings];
}

/** Taxa below each other; what is left out makes its taxon larger than what is drawn below it. */
function tree(of, kept, above) {
  const { series: shades, other } = colours();
  const root = { name: "all reads", value: of.reads, itemStyle: { color: other }, children: [] };
  if (of.unclassified > 0) root.children.push({ name: "unclassified", value: of.unclassified, itemStyle: { color: other } });
  const nodes = new Map();
  let shade = 0;
  for (const [index, { n, c, r }] of of.rows.entries()) {
    if (!kept.has(index) || c === 0) continue;
    const parent = nodes.get(above[index]);
    // A colour for each of the largest branches, paler outwards.
    const color = parent?.branch ?? (r === "D" ? null : shades[shade++ % (shades.length - 1)]);
    const node = { name: short(n), id: `t${index}`, value: c, branch: color, itemStyle: { color: color ?? other, opacity: 0.85 }, children: [] };
    nodes.set(index, node);
    (parent ?? root).children.push(node);
  }
  return root;
}

function sankey(data) {
  const { taxa: of } = data;
  const title = `Flows of ${short(data.sample)}`;
  const { nodes, links } = flows(of);
  if (links.length === 0) return nothing(title, "No taxon has one of the main ranks below another.");
  return chart({
    title,
    about: `Reads from rank to rank, the ${MOST_OF_RANK} largest taxa of each; the others of a rank are together.`,
    height: 520,
    width: 720,
    make: () => {
      const { series: shades, ink, other } = colours();
      return {
        tooltip: { trigger: "item", formatter: ({ name, value }) => `${name.replace(/^.__/, "").replace(/ > .__/, " → ")}\n${number(value)} reads` },
        series: [
          {
            type: "sankey",
            left: 10,
            right: 170,
            top: 10,
            bottom: 10,
            nodeGap: 6,
            draggable: false,
            emphasis: { focus: "adjacency" },
            label: { color: ink, width: 160, overflow: "truncate", formatter: ({ name }) => name.replace(/^.__/, "") },
            lineStyle: { color: "source", opacity: 0.35 },
            data: nodes.map(({ name, depth, others }, index) => ({ name, depth, itemStyle: { color: others ? other : shades[index % (shades.length - 1)] } })),
            links,
          },
        ],
      };
    },
    numbers: () => ({
      columns: [{ name: "From", text: true, show: short }, { name: "To", text: true, show: short }, { name: "Reads" }],
      rows: links.map(({ source, target, value }) => [source, target, value]),
    }),
  });
}

/** Nodes and links between taxa of the main ranks. */
function flows(of) {
  const ranks = RANKS.map(([code]) => code).filter((code) => of.rows.some(({ r, c }) => r === code && c > 0));
  const above = nearest(of, ({ r }) => ranks.includes(r));
  const chosen = new Map();
  for (const rank of ranks) {
    const rows = [...of.rows.keys()].filter((index) => of.rows[index].r === rank && of.rows[index].c > 0);
    rows.sort((a, b) => of.rows[b].c - of.rows[a].c || a - b).forEach((index, place) => chosen.set(index, place < MOST_OF_RANK));
  }
  const names = new Map();
  const sums = new Map();
  // Two taxa may have one name.
  const own = (index) => {
    const { r, n, t } = of.rows[index];
    if (!chosen.get(index)) return `${r}__others`;
    const name = `${r}__${short(n, 40)}`;
    if (names.has(name) && names.get(name) !== t) return `${name} (${t})`;
    names.set(name, t);
    return name;
  };
  const nodeOf = new Map([...chosen.keys()].map((index) => [index, own(index)]));
  for (const index of chosen.keys()) {
    const parent = above[index];
    if (!nodeOf.has(parent)) continue;
    const key = `${nodeOf.get(parent)}\n${nodeOf.get(index)}`;
    const link = sums.get(key) ?? { source: nodeOf.get(parent), target: nodeOf.get(index), value: 0 };
    link.value += of.rows[index].c;
    sums.set(key, link);
  }
  const linked = new Set([...sums.values()].flatMap(({ source, target }) => [source, target]));
  const nodes = [...linked].map((name) => ({ name, depth: ranks.indexOf(name[0]), others: name.endsWith("__others") }));
  return { nodes, links: [...sums.values()] };
}

/** Reads against distinct k-mers: taxa that are not there have few k-mers, again and again. */
function evidence(data) {
  const { taxa: of } = data;
  const species = [...of.rows.keys()].filter((index) => of.rows[index].r === "S" && of.rows[index].c > 0 && of.rows[index].u > 0);
  if (species.length === 0) return null;
  species.sort((a, b) => of.rows[b].c - of.rows[a].c);
  const shown = species.slice(0, MOST_POINTS);
  const least = 10 ** Math.floor(Math.log10(Math.min(...shown.map((index) => of.rows[index].u))));
  return chart({
    title: `Evidence for the species of ${short(data.sample)}`,
    about: "Species by their reads and the distinct k-mers of the database that these have. Those far below the others have many reads of few k-mers: they may not be in the sample.",
    height: 440,
    make: () => ({
      grid: { left: 90, right: 30, top: 20, bottom: 60 },
      tooltip: { trigger: "item", formatter: ({ data: [reads, distinct, name] }) => `${name}\n${number(reads)} reads, ${number(distinct)} distinct k-mers` },
      xAxis: { type: "log", name: "Reads", min: 1, axisLabel: { formatter: compact } },
      yAxis: { type: "log", name: "Distinct k-mers", min: least, axisLabel: { formatter: compact } },
      series: [
        {
          type: "scatter",
          symbolSize: 9,
          itemStyle: { opacity: 0.75 },
          data: shown.map((index) => [of.rows[index].c, of.rows[index].u, short(of.rows[index].n)]),
        },
      ],
    }),
    numbers: () => ({
      columns: [{ name: "Species", text: true, show: short }, { name: "Reads" }, { name: "Distinct k-mers" }, { name: "Distinct k-mers a read" }],
      rows: species.map((index) => [of.rows[index].n, of.rows[index].c, of.rows[index].u, of.rows[index].u / of.rows[index].c]),
    }),
  });
}

function numbersOf(of) {
  const has = (key) => of.rows.some((row) => row[key] !== undefined);
  const optional = [
    ["k", { name: "k-mers" }],
    ["u", { name: "Distinct k-mers" }],
    ["a", { name: "Estimated share", show: (value) => percent(value, 4) }],
  ].filter(([key]) => has(key));
  return {
    columns: [
      { name: "Taxon", text: true, show: (name) => short(name, 100) },
      { name: "Rank", text: true, show: (rank) => RANK_NAMES.get(rank) ?? rank },
      { name: "Taxid", show: String },
      { name: "Reads of the clade" },
      { name: "Share", show: (value) => percent(value, 3) },
      { name: "Reads of its own" },
      ...optional.map(([, column]) => column),
    ],
    rows: of.rows.map((row) => [row.n, row.r, row.t, row.c, row.c / Math.max(1, of.reads), row.o, ...optional.map(([key]) => row[key] ?? null)]),
  };
}

/** All taxa, to be sorted and searched. */
function all(data) {
  const { taxa: of } = data;
  const ranks = [...new Set(of.rows.map(({ r }) => r))].sort();
  let [text, rank] = ["", ""];
  const find = el("input", { type: "search", placeholder: "name or taxid" });
  find.addEventListener("input", () => ((text = find.value.trim().toLowerCase()), whole.select()));
  const options = [["", "all"], ...ranks.map((code) => [code, RANK_NAMES.get(code) ?? code])];
  const whole = table({
    title: `All taxa of ${short(data.sample)}`,
    ...numbersOf(of),
    filters: [el("label", {}, "Search ", find), choice("Rank", options, (value) => ((rank = value), whole.select()))],
    keeps: ([name, code, taxid]) =>
      (rank === "" || code === rank) && (text === "" || String(taxid) === text || name.toLowerCase().includes(text)),
  });
  return el("figure", { class: "taxa" }, el("figcaption", {}, el("h3", {}, `All taxa of ${short(data.sample)}`)), whole);
}
