// Taxa as rings around each other.
import { chart } from "./chart.js";
import { number, percent, short } from "./dom.js";
import { colours } from "./palette.js";
import { isMain, largest, nearest } from "./taxonomy.js";

/** Taxa of a sunburst, at most. */
const MOST = 400;

/** The sunburst of a clade; a click on a taxon calls `go` with the number of its row in the clade. */
export function sunburst({ of, of: { reads }, title, go, numbers }) {
  const kept = largest(of, MOST);
  const above = nearest(of, isMain);
  return chart({
    title,
    about: `Reads by taxon of the main ranks, from the middle outwards; a click goes into a taxon, one in the middle back.${kept.size === MOST ? ` The ${MOST} largest taxa; the table has all ${number(of.rows.length)}.` : ""}`,
    height: 640,
    width: 720,
    onReady: (drawn) => drawn.on("click", ({ data }) => go(data.row ?? null)),
    make: () => {
      const root = tree(of, kept, above);
      return {
        tooltip: { trigger: "item", formatter: ({ name, value }) => `${name}\n${number(value)} reads, ${percent(value / reads)}` },
        series: [
          {
            type: "sunburst",
            nodeClick: false,
            sort: null,
            data: [root],
            levels: levels(rings(root)),
            itemStyle: { borderColor: colours().paper, borderWidth: 1 },
            emphasis: { focus: "ancestor" },
          },
        ],
      };
    },
    numbers,
  });
}

/** Rings around the middle. */
const rings = ({ children }) => children.reduce((most, child) => Math.max(most, 1 + rings(child)), 0);

/** Names along the rings, where an arc is long enough for one; around them, as far as species go. */
function levels(many) {
  const { ink } = colours();
  // Of half the chart's height: the middle, which is all reads, and the rings.
  const [inner, outer, width] = [32, 221, 92];
  const ring = (outer - inner) / Math.max(1, many);
  const label = { rotate: "tangential", width, overflow: "truncate", color: "#000000", fontSize: 11 };
  const all = Array.from({ length: many }, (_, at) => {
    const [r0, r] = [inner + at * ring, inner + (at + 1) * ring];
    const minAngle = Math.min(359, ((1.1 * width) / ((r0 + r) / 2)) * (180 / Math.PI));
    return { r0, r, label: { ...label, minAngle } };
  });
  if (many > 0) all[many - 1].label = { ...label, rotate: "radial", position: "outside", minAngle: 2, width: 110, color: ink, silent: true };
  // ECharts has a level for the way back before those of the data.
  return [{}, { r0: 0, r: inner, label: { show: false } }, ...all];
}

/** Taxa below each other; what is left out makes its taxon larger than what is drawn below it. */
function tree(of, kept, above) {
  const { series: shades, other } = colours();
  const [top] = of.rows;
  const root = { name: of.isWhole ? "all reads" : short(top.n), value: of.reads, itemStyle: { color: other }, children: [] };
  if (of.unclassified > 0) root.children.push({ name: "unclassified", row: -1, value: of.unclassified, itemStyle: { color: other }, children: [] });
  const nodes = new Map(of.isWhole ? [] : [[0, root]]);
  let shade = 0;
  for (const [row, { n, c, r }] of of.rows.entries()) {
    if (!kept.has(row) || nodes.has(row)) continue;
    const parent = nodes.get(above[row]);
    // A colour for each of the largest branches.
    const color = parent?.branch ?? (r === "D" ? null : shades[shade++ % (shades.length - 1)]);
    const node = { name: short(n), row, value: c, branch: color, itemStyle: { color: color ?? other, opacity: 0.85 }, children: [] };
    nodes.set(row, node);
    (parent ?? root).children.push(node);
  }
  return root;
}
