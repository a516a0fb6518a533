// The contents of databases for classification.
import { chart, choice } from "./chart.js";
import { compact, el, freshId, number, percent, short } from "./dom.js";
import { fitted, widthOf } from "./measure.js";
import { colours } from "./palette.js";
import { oneOf } from "./pick.js";
import { searchField, table } from "./table.js";
import { colourOf } from "./taxcolours.js";
import { RANK_NAMES, RANKS } from "./taxonomy.js";

/** The number of taxa with bars. */
const LARGEST = 20;
/** The size of their names, and the least room for bars. */
const [SIZE, BAR] = [12, 140];

export function databases(all) {
  const shown = all.filter((data) => data.database);
  return el("section", { "aria-label": "Databases" }, el("h2", {}, shown.length > 1 ? "Databases" : "Database"), shown.length > 1 ? together(shown) : null, ...oneOf(shown, contents, "Database"));
}

/** The unit of the numbers of a database's taxa. */
export const countedIn = ({ references, unit }) => (references === undefined ? unit : "reference sequences");

function together(all) {
  return table({
    title: "Databases in numbers",
    columns: [
      { name: "Database", text: true, show: short },
      { name: "Kind", text: true, show: short },
      { name: "Taxa" },
      { name: "Reference sequences" },
      { name: "Bases" },
      { name: "Features or minimizers" },
      { name: "Load", show: (value) => percent(value, 1) },
      { name: "Bytes" },
    ],
    rows: all.map(({ sample, database: of }) => [sample, of.kind, of.taxa, of.references ?? null, of.bases ?? null, of.stored, of.cells ? of.stored / of.cells : null, of.bytes]),
  });
}

function contents({ sample, database: of }) {
  const name = short(sample);
  const ranks = RANKS.filter(([code]) => of.rows.some(({ r }) => r === code));
  const bars = el("div");
  let [rank, key] = [ranks.at(-1)?.[0], "c"];
  const draw = () => {
    bars.replaceChildren(largest(of, rank, key, name));
    bars.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  };
  const unit = countedIn(of);
  const values = [["c", upper(unit)], ...(of.bases === undefined ? [] : [["b", "Bases"]])];
  const tools = el(
    "p",
    { class: "tools" },
    choice("Rank", [...ranks].reverse(), (value) => ((rank = value), draw())),
    values.length > 1 ? choice("Bars of", values, (value) => ((key = value), draw())) : null,
  );
  if (ranks.length > 0) draw();
  return [...(ranks.length > 0 ? [tools, bars] : []), taxa(of, name)];
}

const upper = (text) => text[0].toUpperCase() + text.slice(1);

/** The largest taxa of a rank as bars. */
function largest(of, rank, key, name) {
  const unit = key === "b" ? "bases" : countedIn(of);
  const rows = of.rows.filter(({ r, c }) => r === rank && c > 0).sort((one, other) => other[key] - one[key] || one.t - other.t);
  const shown = rows.slice(0, LARGEST);
  const rest = rows.length > LARGEST ? ` The ${LARGEST} largest of ${number(rows.length)}; the table has all.` : "";
  return chart({
    title: `${upper(unit)} by ${RANK_NAMES.get(rank).toLowerCase()}, ${name}`,
    about: `${upper(unit)} of the database in the clades of this rank.${rest}`,
    height: 90 + 24 * shown.length,
    make: (width) => {
      const most = Math.max(60, width - BAR - 80);
      const room = Math.min(most, 14 + Math.max(...shown.map(({ n }) => widthOf(short(n, 100), SIZE))));
      return {
        grid: { left: room, right: 70, top: 10, bottom: 50 },
        tooltip: { trigger: "item", formatter: ({ dataIndex, value }) => `${short(shown[dataIndex].n)}\n${number(value)} ${unit}` },
        xAxis: { type: "value", name: upper(unit), min: 0, axisLabel: { formatter: compact } },
        yAxis: { type: "category", inverse: true, data: shown.map((_, at) => String(at)), axisTick: { show: false }, axisLabel: { interval: 0, fontSize: SIZE, formatter: (at) => fitted(short(shown[at].n, 100), room - 12, SIZE) } },
        series: [
          {
            type: "bar",
            barCategoryGap: "25%",
            data: shown.map((row) => ({ value: row[key], itemStyle: { color: colourOf(row) } })),
            label: { show: true, position: "right", color: colours().ink, formatter: ({ value }) => compact(value) },
          },
        ],
      };
    },
    numbers: () => ({ columns: [{ name: "Taxon", text: true, show: (text) => short(text, 100) }, { name: "Taxid", show: String }, { name: upper(unit) }], rows: rows.map((row) => [row.n, row.t, row[key]]) }),
  });
}

/** The table of all taxa, which can be sorted and searched. */
function taxa(of, name) {
  const title = `All taxa of ${name}`;
  const sum = Math.max(1, of.rows[0]?.c ?? 1);
  const ranks = [...new Set(of.rows.map(({ r }) => r))].sort();
  let rank = "";
  const { field, finds, isTyped } = searchField("name or taxid", () => whole.select());
  const options = [["", "all"], ...ranks.map((code) => [code, RANK_NAMES.get(code) ?? code])];
  const unit = countedIn(of);
  const whole = table({
    title,
    columns: [
      { name: "Taxon", text: true, show: (text) => short(text, 100), indent: (row) => row.at(-1).d },
      { name: `Share of ${unit}`, show: (value) => percent(value, 3), bar: (part, row) => ({ part, colour: colourOf(row.at(-1)) }) },
      { name: "Rank", text: true, show: (code) => RANK_NAMES.get(code) ?? code },
      { name: "Taxid", show: String },
      { name: `${upper(unit)} of the clade` },
      { name: `${upper(unit)} of its own` },
      ...(of.bases === undefined ? [] : [{ name: "Bases of the clade" }]),
    ],
    // The last value of a row is its taxon, which is not a column.
    rows: of.rows.map((row) => [row.n, row.c / sum, row.r, row.t, row.c, row.o, ...(of.bases === undefined ? [] : [row.b ?? null]), row]),
    filters: [field, choice("Rank", options, (value) => ((rank = value), whole.select()))],
    keeps: ([text, , code, taxid]) => (rank === "" || code === rank) && (isTyped(taxid) || finds(text)),
  });
  return el("figure", { class: "taxa" }, el("figcaption", { id: freshId() }, el("h3", {}, title)), whole);
}
