// Taxa as a sunburst of rings.
import { chart } from "./chart.js";
import { number, percent, short } from "./dom.js";
import { spread } from "./labels.js";
import { FONT, fitted, widthOf } from "./measure.js";
import { colours } from "./palette.js";
import { colourOf, inkOn } from "./taxcolours.js";
import { isMain, largest, nearest } from "./taxonomy.js";

/** The maximum number of taxa in a sunburst. */
const MOST = 400;
/** The sizes of letters and of lines of text, in pixels. */
const [SIZE, LINE] = [12, 17];
/** Pages narrower than this have the names below the rings. */
const WIDE = 640;
/** The radius of the center, and the maximum radius of the rings. */
const [INNER, OUTER] = [30, 215];
/** The maximum number of names below the rings, or on one side of them. */
const [BELOW, ASIDE] = [14, 26];
/** The smallest angle with a name. */
const LEAST_ANGLE = (0.8 * Math.PI) / 180;
const GAP = 30;

const heightOf = (width) => (width < WIDE ? width + LINE * BELOW + 16 : 540);

/** The sunburst of a clade. A click on a taxon calls `go` with its row number in the clade, a click on the center with `null`. */
export function sunburst({ of, of: { reads }, title, go, numbers }) {
  const kept = largest(of, MOST);
  const above = nearest(of, isMain);
  return chart({
    title,
    about: `Reads by taxon of the main ranks, from the center outwards. Click a taxon to zoom in, the center to zoom out.${kept.size === MOST ? ` The ${MOST} largest taxa; the table has all ${number(of.rows.length)}.` : ""}`,
    height: heightOf,
    onReady: (drawn) => drawn.on("click", ({ data }) => data && go(data.row ?? null)),
    make: (width) => {
      const root = tree(of, kept, above);
      const many = rings(root);
      deepen(root, many);
      const outer = width < WIDE ? Math.max(60, width / 2 - 12) : OUTER;
      const center = [width / 2, width < WIDE ? width / 2 : heightOf(width) / 2];
      const ring = (outer - INNER) / Math.max(1, many);
      arrange(root, 0, 2 * Math.PI, 0, { ring });
      return {
        tooltip: { trigger: "item", formatter: ({ name, value }) => `${name}\n${number(value)} reads, ${percent(value / reads)}` },
        graphic: names(root, { center, outer, ring, width, reads }),
        series: [
          {
            type: "sunburst",
            nodeClick: false,
            sort: null,
            center,
            radius: [0, outer],
            data: [root],
            levels: levels(many, ring),
            itemStyle: { borderColor: colours().paper, borderWidth: 1 },
            label: { show: false },
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

/** The unclassified reads have no ranks: their part covers all rings. */
function deepen(root, many) {
  let node = root.children.find(({ row }) => row === UNCLASSIFIED);
  for (let at = 1; node && at < many; at++) {
    const { name, value, itemStyle } = node;
    node.itemStyle = { ...itemStyle, borderWidth: 0 };
    const [child] = (node.children = [{ name, row: UNCLASSIFIED, value, itemStyle: { ...itemStyle, borderWidth: 0 }, children: [] }]);
    node = child;
  }
}
const UNCLASSIFIED = -1;

/** The levels of the rings. */
function levels(many, ring) {
  const all = Array.from({ length: many }, (_, at) => ({ r0: INNER + at * ring, r: INNER + (at + 1) * ring }));
  // The first level of ECharts is the centre, which leads back to the parent; the levels of the data follow.
  return [{}, { r0: 0, r: INNER }, ...all];
}

/** Notes the angles of each node, clockwise from the top, and writes the names that fit into their parts. */
function arrange(node, from, to, depth, { ring }) {
  Object.assign(node, { from, to, depth });
  if (depth > 0 && node.row !== UNCLASSIFIED) {
    const radius = INNER + (depth - 0.5) * ring;
    const half = widthOf(node.name, SIZE - 1) / 2 + 3;
    const [low, high] = [radius - SIZE / 2, radius + SIZE / 2];
    const fits = node.children.length > 0 && Math.hypot(half, high) <= INNER + depth * ring && low >= INNER + (depth - 1) * ring && 2 * Math.atan(half / low) <= to - from;
    node.label = { show: fits, rotate: "tangential", color: inkOn(node.itemStyle.color), fontSize: SIZE - 1, textBorderWidth: 0 };
    node.isBent = !fits && node.children.length > 0 && ring > SIZE + 2 && 2.2 * half + 8 <= (to - from) * radius;
  }
  let at = from;
  for (const child of node.children) {
    const next = at + ((to - from) * child.value) / Math.max(1, node.value);
    arrange(child, at, next, depth + 1, { ring });
    at = next;
  }
}

/** The nodes without children, from the top clockwise. */
const leaves = (node) => (node.children.length === 0 ? [node] : node.children.flatMap(leaves));

/** The names of the outermost taxa: beside the rings with lines that lead to them, or below them. */
function names(root, { center: [x, y], outer, ring, width, reads }) {
  const { ink, paper } = colours();
  const text = (words, left, top, size = SIZE) => ({ type: "text", silent: true, style: { text: words, x: left, y: top, fill: ink, font: `${size}px ${FONT}`, textVerticalAlign: "middle" } });
  const all = leaves(root).filter(({ depth }) => depth > 0);
  const share = ({ value }) => percent(value / Math.max(1, reads), 1);
  const bySize = [...all].sort((one, other) => other.value - one.value);
  if (width < WIDE) {
    const list = bySize.slice(0, BELOW).flatMap((node, at) => {
      const top = width + 12 + at * LINE;
      const room = width - 30 - widthOf(`  ${share(node)}`, SIZE);
      const square = { type: "rect", silent: true, shape: { x: 8, y: top - 5, width: 10, height: 10 }, style: { fill: node.itemStyle.color, stroke: paper } };
      return [square, text(`${fitted(node.name, room, SIZE)}  ${share(node)}`, 24, top)];
    });
    return [...bent(root, [x, y], ring), ...list];
  }
  return [...bent(root, [x, y], ring), ...aside(all, { center: [x, y], outer, ring, width, share, text })];
}

/** The names of the taxa around the center that do not fit straight into their parts: letters along the ring. */
function bent(node, [x, y], ring) {
  const own = [];
  if (node.isBent) {
    const middle = (node.from + node.to) / 2;
    // Below the center, letters go the other way, so that they are not upside down.
    const way = Math.cos(middle) < 0 ? -1 : 1;
    const radius = INNER + (node.depth - 0.5) * ring;
    const letters = [...node.name];
    const widths = letters.map((letter) => widthOf(letter, SIZE - 1));
    let at = -widths.reduce((sum, width) => sum + width, 0) / 2;
    letters.forEach((letter, index) => {
      const angle = middle + (way * (at + widths[index] / 2)) / radius;
      at += widths[index];
      const style = { text: letter, x: 0, y: 0, fill: inkOn(node.itemStyle.color), font: `${SIZE - 1}px ${FONT}`, textAlign: "center", textVerticalAlign: "middle" };
      const turn = way > 0 ? -angle : Math.PI - angle;
      own.push({ type: "text", silent: true, z: 10, x: x + radius * Math.sin(angle), y: y - radius * Math.cos(angle), rotation: turn, style });
    });
  }
  return [...own, ...node.children.flatMap((child) => bent(child, [x, y], ring))];
}

/** The names beside the rings, with lines that lead to them. */
function aside(all, { center: [x, y], outer, ring, width, share, text }) {
  const { muted } = colours();
  const middle = ({ from, to }) => (from + to) / 2;
  const wide = all.filter(({ from, to }) => to - from >= LEAST_ANGLE);
  return [1, -1].flatMap((side) => {
    const ofSide = wide.filter((node) => Math.sign(Math.sin(middle(node)) || 1) === side);
    const kept = new Set(ofSide.sort((one, other) => other.value - one.value).slice(0, ASIDE));
    const shown = all.filter((node) => kept.has(node));
    const height = 2 * y;
    const places = spread(shown.map((node) => y - (outer + 8) * Math.cos(middle(node))), [LINE, height - LINE], LINE);
    const end = x + side * (outer + GAP);
    const room = (side > 0 ? width - end : end) - 8;
    return shown.flatMap((node, at) => {
      const [sin, cos] = [Math.sin(middle(node)), Math.cos(middle(node))];
      const on = (radius) => [x + radius * sin, y - radius * cos];
      const rim = INNER + node.depth * ring;
      const points = [on(rim + 1), on(outer + 6), [end - side * 6, places[at]], [end - side * 2, places[at]]];
      const line = { type: "polyline", silent: true, shape: { points }, style: { stroke: muted, fill: "none", lineWidth: 0.8 } };
      const whole = `${node.name}  ${share(node)}`;
      const size = [SIZE, SIZE - 1, SIZE - 2].find((size) => widthOf(whole, size) <= room) ?? SIZE - 3;
      const words = widthOf(whole, size) <= room ? whole : `${fitted(node.name, room - widthOf(`  ${share(node)}`, size), size)}  ${share(node)}`;
      return [line, text(words, side > 0 ? end : end - widthOf(words, size), places[at], size)];
    });
  });
}

/** The tree of the taxa. If taxa are left out, their parent is larger than the sum of its children. */
function tree(of, kept, above) {
  const { other } = colours();
  const [top] = of.rows;
  const root = { name: of.isWhole ? "all reads" : short(top.n), value: of.reads, itemStyle: { color: other }, children: [] };
  const nodes = new Map(of.isWhole ? [] : [[0, root]]);
  for (const [row, taxon] of of.rows.entries()) {
    if (!kept.has(row) || nodes.has(row)) continue;
    const node = { name: short(taxon.n), row, value: taxon.c, itemStyle: { color: colourOf(taxon) }, children: [] };
    nodes.set(row, node);
    (nodes.get(above[row]) ?? root).children.push(node);
  }
  if (of.unclassified > 0) root.children.push({ name: "Unclassified", row: UNCLASSIFIED, value: of.unclassified, itemStyle: { color: other }, children: [] });
  return root;
}
