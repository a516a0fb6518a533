// Flows of reads from the taxa of a rank to those of the next rank.
import { chart, nothing } from "./chart.js";
import { number, short } from "./dom.js";
import { colours } from "./palette.js";
import { nearest, RANKS } from "./taxonomy.js";

const MOST_OF_RANK = 12;

/** A node's name without its rank. */
const plain = (name) => name.replace(/^.__/, "");

/** The flows of a clade. A click on a taxon calls `go` with its row number in the clade. */
export function flows({ of, title, go }) {
  const { nodes, links } = graph(of);
  if (links.length === 0) return nothing(title, "No taxon of a main rank is below one of another main rank.");
  return chart({
    title,
    about: `Reads from rank to rank, with the ${MOST_OF_RANK} largest taxa of each; the others of a rank are combined. Click a taxon to zoom in.`,
    height: 520,
    width: 720,
    onReady: (drawn) => drawn.on("click", ({ dataType, data }) => dataType === "node" && go(data.row)),
    make: () => {
      const { series: shades, ink, other } = colours();
      return {
        tooltip: { trigger: "item", formatter: ({ name, value }) => `${name.split(" > ").map(plain).join(" → ")}\n${number(value)} reads` },
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
            label: { color: ink, width: 160, overflow: "truncate", formatter: ({ name }) => plain(name) },
            lineStyle: { color: "source", opacity: 0.35 },
            data: nodes.map(({ name, depth, row }, index) => ({ name, depth, row, itemStyle: { color: row < 0 ? other : shades[index % (shades.length - 1)] } })),
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

/** The nodes and links of the taxa of main ranks. */
function graph(of) {
  const ranks = RANKS.map(([code]) => code).filter((code) => of.rows.some(({ r, c }) => r === code && c > 0));
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
  const linked = new Set([...sums.values()].flatMap(({ source, target }) => [source, target]));
  const rows = new Map([...nodeOf].filter(([index]) => chosen.get(index)).map(([index, name]) => [name, index]));
  const nodes = [...linked].map((name) => ({ name, depth: ranks.indexOf(name[0]), row: rows.get(name) ?? -1 }));
  return { nodes, links: [...sums.values()] };
}
