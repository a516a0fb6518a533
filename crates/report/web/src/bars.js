// Histograms of small numbers, such as edits, hits and insert sizes: bars or lines of several samples.
import { chart, nothing } from "./chart.js";
import { compact, number, short } from "./dom.js";
import { colours, DASHES } from "./palette.js";
import { filled } from "./rows.js";

/**
 * A histogram. `samples` are pairs of a name and rows, each with a value and its number; `first` says what they are. `steps` are the distances
 * of the values of each.
 */
export function histogram({ title, about, axis, unit, samples, lines = false, first = "Sample", steps = [] }) {
  const drawn = samples.map(([name, rows], at) => [name, rows, steps[at] ?? 1]).filter(([, rows]) => rows.some(([, many]) => many > 0));
  if (drawn.length === 0) return nothing(title, `There are no ${unit.toLowerCase()} to show.`);
  const asLines = lines || drawn.length > 3;
  const values = [...new Set(drawn.flatMap(([, rows]) => rows.map(([value]) => value)))].sort((a, b) => a - b);
  return chart({
    title,
    about,
    zoomed: asLines,
    make: () => {
      const { series: shades } = colours();
      return {
        grid: { left: 90, right: 20, top: 40, bottom: asLines ? 80 : 60 },
        legend: { show: drawn.length > 1 },
        tooltip: { trigger: "axis", valueFormatter: number },
        xAxis: asLines
          ? { type: "value", name: axis, min: values[0], max: values.at(-1) === values[0] ? values[0] + 1 : values.at(-1) }
          : { type: "category", name: axis, data: values.map(String) },
        yAxis: { type: "value", name: unit, min: 0, axisLabel: { formatter: compact } },
        series: drawn.map(([name, rows, step], index) => {
          const of = new Map(rows);
          return asLines
            ? {
                name: short(name),
                type: "line",
                showSymbol: rows.length < 3,
                data: filled(rows, step),
                lineStyle: { type: DASHES[Math.floor(index / shades.length) % DASHES.length] },
              }
            : { name: short(name), type: "bar", data: values.map((value) => of.get(value) ?? 0) };
        }),
      };
    },
    numbers: () => ({
      columns: [{ name: first, text: true, show: short }, { name: axis }, { name: unit }],
      rows: drawn.flatMap(([name, rows]) => rows.map(([value, many]) => [name, value, many])),
    }),
  });
}
