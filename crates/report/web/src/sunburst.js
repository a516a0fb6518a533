// Taxa as a sunburst of rings.
import { chart } from "./chart.js";
import { number, percent, short } from "./dom.js";
import { colours } from "./palette.js";
import { isMain, largest, nearest } from "./taxonomy.js";

/** The maximum number of taxa in a sunburst. */
const MOST = 400;

/** The sunburst of a clade. A click on a taxon calls `go` with its row number in the clade, a click on the center with `null`. */
export function sunburst({ of, of: { reads }, title, go, numbers }) {
  const kept = largest(of, MOST);
  const above = nearest(of, isMain);
  return chart({
    title,
    about: `Reads by taxon of the main ranks, from the center outwards. Click a taxon to zoom in, the center to zoom out.${kept.size === MOST ? ` The ${MOST} largest taxa; the table has all ${number(of.rows.length)}.` : ""}`,
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

/** The number of rings around the center. */
const rings = ({ children }) => children.reduce((most, child) => Math.max(most, 1 + rings(child)), 0);

/** The levels of the rings. Labels are along the rings if an arc is long enough, and outside the last ring. */
function levels(many) {
  const { ink } = colours();
  // The radii of the center, which is all reads, and of the rings, in pixels.
  const [inner, outer, width] = [32, 221, 92];
  const ring = (outer - inner) / Math.max(1, many);
  const label = { rotate: "tangential", width, overflow: "truncate", color: "#000000", fontSize: 11 };
  const all = Array.from({ length: many }, (_, at) => {
    const [r0, r] = [inner + at * ring, inner + (at + 1) * ring];
    const minAngle = Math.min(359, ((1.1 * width) / ((r0 + r) / 2)) * (180 / Math.PI));
    return { r0, r, label: { ...label, minAngle } };
  });
  if (many > 0) all[many - 1].label = { ...label, rotate: "radial", position: "outside", minAngle: 2, width: 110, color: ink, silent: true };
  // The first level of ECharts is the centre, which leads back to the parent; the levels of the data follow.
  return [{}, { r0: 0, r: inner, label: { show: false } }, ...all];
}

/** The tree of the taxa. If taxa are left out, their parent is larger than the sum of its children. */
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
    // Each of the largest branches has its own colour.
    const color = parent?.branch ?? (r === "D" ? null : shades[shade++ % (shades.length - 1)]);
    const node = { name: short(n), row, value: c, branch: color, itemStyle: { color: color ?? other, opacity: 0.85 }, children: [] };
    nodes.set(row, node);
    (parent ?? root).children.push(node);
  }
  return root;
}
