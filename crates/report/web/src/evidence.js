// The evidence for species: distinct k-mers by reads.
import { chart } from "./chart.js";
import { compact, number, short } from "./dom.js";
import { beside } from "./labels.js";
import { FONT, widthOf } from "./measure.js";
import { colours } from "./palette.js";
import { colourOf } from "./taxcolours.js";

const MOST_POINTS = 5000;
/** The maximum number of species with names, and the size of their letters. */
const [NAMED, SIZE] = [40, 12];
const HEIGHT = 440;
/** The frame of the points: left, right, top, bottom. */
const GRID = { left: 90, right: 30, top: 20, bottom: 60 };

/** Species by reads and distinct k-mers: reads of absent taxa repeat few distinct k-mers. */
export function evidence(data) {
  const { taxa: of } = data;
  const species = [...of.rows.keys()].filter((index) => of.rows[index].r === "S" && of.rows[index].c > 0 && of.rows[index].u > 0);
  if (species.length === 0) return null;
  species.sort((a, b) => of.rows[b].c - of.rows[a].c);
  const shown = species.slice(0, MOST_POINTS);
  const power = (value) => 10 ** Math.ceil(Math.log10(Math.max(10, 1.1 * value)));
  const most = (key) => power(shown.reduce((so, index) => Math.max(so, of.rows[index][key]), 1));
  const rest = of.unclassified > 0 ? ` ${number(of.unclassified)} unclassified reads have no species.` : "";
  const least = 10 ** Math.floor(Math.log10(Math.min(...shown.map((index) => of.rows[index].u))));
  return chart({
    title: `Evidence for the species of ${short(data.sample)}`,
    about: "Species by their reads and the distinct k-mers of the database in these reads. Species far below the others have many reads with few distinct k-mers: they may be absent from the sample." + rest,
    height: HEIGHT,
    make: (width) => ({
      grid: GRID,
      graphic: names(of, shown.slice(0, NAMED), { width, low: [1, least], high: [most("c"), most("u")] }),
      tooltip: { trigger: "item", formatter: ({ value: [reads, distinct, name] }) => `${name}\n${number(reads)} reads, ${number(distinct)} distinct k-mers` },
      xAxis: { type: "log", name: "Reads", min: 1, max: most("c"), axisLabel: { formatter: compact } },
      yAxis: { type: "log", name: "Distinct k-mers", min: least, max: most("u"), axisLabel: { formatter: compact } },
      series: [
        {
          type: "scatter",
          symbolSize: 9,
          data: shown.map((index) => ({ value: [of.rows[index].c, of.rows[index].u, short(of.rows[index].n)], itemStyle: { color: colourOf(of.rows[index]), opacity: 0.85 } })),
        },
      ],
    }),
    numbers: () => ({
      columns: [{ name: "Species", text: true, show: short }, { name: "Reads" }, { name: "Distinct k-mers" }, { name: "Distinct k-mers per read" }],
      rows: species.map((index) => [of.rows[index].n, of.rows[index].c, of.rows[index].u, of.rows[index].u / of.rows[index].c]),
    }),
  });
}

/** The names of the largest species, where there is room for them. */
function names(of, shown, { width, low, high }) {
  const { left, right, top, bottom } = GRID;
  const part = (value, axis) => Math.log(value / low[axis]) / Math.log(high[axis] / low[axis]);
  const points = shown.map((index) => {
    const { c, u } = of.rows[index];
    return [left + part(c, 0) * (width - left - right), HEIGHT - bottom - part(u, 1) * (HEIGHT - top - bottom)];
  });
  const texts = shown.map((index) => short(of.rows[index].n));
  const sizes = texts.map((text) => [widthOf(text, SIZE) + 2, SIZE + 2]);
  const { ink, muted } = colours();
  return beside(points, sizes, [left + 2, 2, width - 4, HEIGHT - bottom]).flatMap((place, at) => {
    if (place === null) return [];
    const [x, y] = place;
    const text = { type: "text", silent: true, z: 10, style: { text: texts[at], x: x + 1, y: y + 1, fill: ink, font: `${SIZE}px ${FONT}` } };
    const near = [Math.min(Math.max(points[at][0], x), x + sizes[at][0]), Math.min(Math.max(points[at][1], y), y + sizes[at][1])];
    const isFar = Math.hypot(near[0] - points[at][0], near[1] - points[at][1]) > 12;
    const line = { type: "line", silent: true, shape: { x1: points[at][0], y1: points[at][1], x2: near[0], y2: near[1] }, style: { stroke: muted, lineWidth: 0.7 } };
    return isFar ? [line, text] : [text];
  });
}
