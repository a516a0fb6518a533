// The evidence for species: distinct k-mers by reads.
import { chart } from "./chart.js";
import { compact, number, short } from "./dom.js";
import { colours } from "./palette.js";

const MOST_POINTS = 5000;
/** The number of species with labels. */
const NAMED = 12;

/** Species by reads and distinct k-mers: reads of absent taxa repeat few distinct k-mers. */
export function evidence(data) {
  const { taxa: of } = data;
  const species = [...of.rows.keys()].filter((index) => of.rows[index].r === "S" && of.rows[index].c > 0 && of.rows[index].u > 0);
  if (species.length === 0) return null;
  species.sort((a, b) => of.rows[b].c - of.rows[a].c);
  const shown = species.slice(0, MOST_POINTS);
  const least = 10 ** Math.floor(Math.log10(Math.min(...shown.map((index) => of.rows[index].u))));
  return chart({
    title: `Evidence for the species of ${short(data.sample)}`,
    about: "Species by their reads and the distinct k-mers of the database in these reads. Species far below the others have many reads with few distinct k-mers: they may be absent from the sample.",
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
          label: { show: true, position: "top", color: colours().ink, formatter: ({ dataIndex, data: [, , name] }) => (dataIndex < NAMED ? short(name, 28) : "") },
          labelLayout: { hideOverlap: true },
          data: shown.map((index) => [of.rows[index].c, of.rows[index].u, short(of.rows[index].n)]),
        },
      ],
    }),
    numbers: () => ({
      columns: [{ name: "Species", text: true, show: short }, { name: "Reads" }, { name: "Distinct k-mers" }, { name: "Distinct k-mers per read" }],
      rows: species.map((index) => [of.rows[index].n, of.rows[index].c, of.rows[index].u, of.rows[index].u / of.rows[index].c]),
    }),
  });
}

