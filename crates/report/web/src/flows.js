// Flows of reads from the taxa of a rank to those of the next rank.
import { chart, nothing } from "./chart.js";
import { number, short } from "./dom.js";
import { widthOf, wrapped } from "./measure.js";
import { colours } from "./palette.js";
import { colourOf } from "./taxcolours.js";
import { nearest, RANKS } from "./taxonomy.js";

/** The maximum numbers of taxa of a rank, and of ranks: more would leave no room for the names. */
const [MOST_OF_RANK, MOST_RANKS] = [12, 5];
/** The ranks that are left out first. */
const LESSER = ["C", "O", "P", "F"];
const [SIZE, LINE, LINES] = [12, 14, 2];
const NODE = 16;
/** The rows of nodes that are not taxa. */
const [NO_TAXON, ALL, UNCLASSIFIED] = [-1, -2, -3];

/** A node's name without its rank. */
const plain = (name) => name.replace(/^.__/, "");

/** The flows of a clade. A click on a taxon calls `go` with its row number in the clade. */
export function flows({ of, title, go }) {
  const { nodes, links } = graph(of);
  if (links.length === 0) return nothing(title, "No taxon of a main rank is below one of another main rank.");
  const columns = 1 + nodes.reduce((most, { depth }) => Math.max(most, depth), 0);
  const last = nodes.filter(({ depth }) => depth === columns - 1);
  return chart({
    title,
    about: `Reads from rank to rank, with the ${MOST_OF_RANK} largest taxa of each; the others of a rank are combined. Click a taxon to zoom in.`,
    height: 560,
    width: 150 * columns,
    onReady: (drawn) => drawn.on("click", ({ dataType, data }) => dataType === "node" && go(data.row)),
    make: (width) => {
      const { ink, other } = colours();
      // The names of the last rank are at the right of it, on one line if possible.
      const right = Math.min(width / 3, Math.max(60, ...last.map(({ name }) => widthOf(plain(name), SIZE) + 14)));
      const step = columns > 1 ? (width - 10 - right - NODE) / (columns - 1) : width;
      const room = (depth) => (depth === columns - 1 ? right - 8 : step - NODE - 10);
      const labels = nodes.map(({ name, depth }) => wrapped(plain(name), room(depth), SIZE, LINES).join("\n"));
      const deepest = labels.some((text) => text.includes("\n")) ? LINES : 1;
      return {
        tooltip: { trigger: "item", formatter: ({ name, value }) => `${name.split(" > ").map(plain).join(" → ")}\n${number(value)} reads` },
        series: [
          {
            type: "sankey",
            left: 10,
            right,
            top: LINE,
            bottom: LINE,
            nodeGap: LINE * deepest + 1,
            nodeWidth: NODE,
            draggable: false,
            emphasis: { focus: "adjacency" },
            label: { color: ink, fontSize: SIZE, lineHeight: LINE },
            lineStyle: { color: "source", opacity: 0.35 },
            data: nodes.map(({ name, depth, row, value }, index) => ({
              name,
              depth,
              row,
              value,
              label: { formatter: () => labels[index] },
              itemStyle: { color: row < 0 ? other : colourOf(of.rows[row]) },
            })),
            links,
          },
        ],
      };
    },
    numbers: () => ({
      columns: [{ name: "From", text: true, show: short }, { name: "To", text: true, show: short }, { name: "Reads" }],
      rows: links.map(({ source, target, value }) => [plain(source), plain(target), value]),
    }),
  });
}

/** The ranks to show: those with reads, without lesser ones if there are too many. */
function ranksOf(of) {
  const ranks = RANKS.map(([code]) => code).filter((code) => of.rows.some(({ r, c }) => r === code && c > 0));
  for (const lesser of LESSER) if (ranks.length > MOST_RANKS && ranks.includes(lesser)) ranks.splice(ranks.indexOf(lesser), 1);
  return ranks;
}

/** The nodes and links of the taxa of main ranks. */
function graph(of) {
  const ranks = ranksOf(of);
  const above = nearest(of, ({ r }) => ranks.includes(r));
  const chosen = new Map();
  for (const rank of ranks) {
    const rows = [...of.rows.keys()].filter((index) => of.rows[index].r === rank && of.rows[index].c > 0);
    rows.sort((a, b) => of.rows[b].c - of.rows[a].c || a - b).forEach((index, place) => chosen.set(index, place < MOST_OF_RANK));
  }
  // Reserves the names of the combined nodes, so that no taxon gets them.
  const names = new Map(ranks.map((rank) => [`${rank}__others`, null]));
  const sums = new Map();
  // Several taxa may have the same name.
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
    // A report may have ranks in any order, but flows must not go back.
    if (!nodeOf.has(parent) || ranks.indexOf(of.rows[parent].r) >= ranks.indexOf(of.rows[index].r)) continue;
    const key = `${nodeOf.get(parent)}\n${nodeOf.get(index)}`;
    const link = sums.get(key) ?? { source: nodeOf.get(parent), target: nodeOf.get(index), value: 0 };
    link.value += of.rows[index].c;
    sums.set(key, link);
  }
  if (of.isWhole) addReads(of, { above, nodeOf, sums });
  const linked = new Set([...sums.values()].flatMap(({ source, target }) => [source, target]));
  const rows = new Map([...nodeOf].filter(([index]) => chosen.get(index)).map(([index, name]) => [name, index]));
  rows.set(ALL_READS, ALL);
  rows.set(REST, UNCLASSIFIED);
  // All reads are before the first rank, and those without a taxon beside it.
  const depth = (name) => (name === ALL_READS ? 0 : name === REST ? 1 : ranks.indexOf(name[0]) + (of.isWhole ? 1 : 0));
  const nodes = [...linked].map((name) => ({ name, depth: depth(name), row: rows.get(name) ?? NO_TAXON, ...(name === ALL_READS && { value: of.reads }) }));
  return { nodes, links: [...sums.values()] };
}

// Names of ranks have one letter, so that no taxon has these names.
const [ALL_READS, REST] = ["All reads", "Unclassified"];

/** Adds the flows from all reads to the highest taxa, and to the unclassified reads. */
function addReads(of, { above, nodeOf, sums }) {
  const add = (target, value) => {
    const key = `${ALL_READS}\n${target}`;
    const link = sums.get(key) ?? { source: ALL_READS, target, value: 0 };
    link.value += value;
    if (value > 0) sums.set(key, link);
  };
  for (const [row, node] of nodeOf) if (!nodeOf.has(above[row])) add(node, of.rows[row].c);
  add(REST, of.unclassified);
}
