// A table that can be sorted and filtered, and shows one page of rows at a time, so that a million rows are as fast as ten.
import { el, fileName, number, save } from "./dom.js";
import { onTheme } from "./palette.js";

const PAGE = 25;
/** The deepest indent. */
const DEEPEST = 14;

/** Formats a field of a TSV file. */
const field = (value) => (value === null || value === undefined ? "" : String(value).replace(/[\t\r\n]/g, " "));

/** Colours a cell. */
function heat(cell, strength) {
  cell.classList.add("heat");
  // The page's policy forbids attributes with styles, not properties.
  cell.style.setProperty("--heat", `${(40 * strength).toFixed(1)}%`);
}

/** Draws a bar in a cell. */
function bar(cell, { part, colour }) {
  cell.classList.add("bar");
  cell.style.setProperty("--part", `${(100 * part).toFixed(2)}%`);
  cell.style.setProperty("--colour", colour);
}

/** The tables with bars, whose colours follow the theme. */
const barred = new Set();
onTheme(() => barred.forEach((one) => (one.whole.isConnected ? one.redraw() : barred.delete(one))));

/** A field in which to search, and `finds`, which tells whether one of some texts has what is typed; `changed` is called at each change. */
export function searchField(placeholder, changed) {
  let text = "";
  const input = el("input", { type: "search", placeholder });
  input.addEventListener("input", () => ((text = input.value.trim().toLowerCase()), changed()));
  return {
    field: el("label", {}, "Search ", input),
    finds: (...texts) => text === "" || texts.some((one) => one.toLowerCase().includes(text)),
    isTyped: (value) => String(value) === text,
  };
}

/**
 * A table. `columns` have a `name` and optionally `show`, which formats a value, `heat`, which maps a value to the strength of its colour, 0
 * to 1, `bar`, which maps a value and its row to a part, 0 to 1, and a colour, and `indent`, which maps a row to its depth; `rows` are arrays of values. `filters` are elements
 * above the table; `keeps` tells whether a row is shown.
 */
export function table({ title, columns, rows, filters = [], keeps, perPage = PAGE }) {
  let shown = rows;
  let at = 0;
  let sorted = { column: -1, down: false };
  const body = el("tbody");
  const status = el("span", { role: "status" });
  const headers = columns.map((column, index) => {
    const button = el("button", { type: "button", onclick: () => sort(index) }, column.name);
    return el("th", { scope: "col", class: column.text ? null : "number" }, button);
  });
  const turn = (label, by) => el("button", { type: "button", onclick: () => go(at + by) }, label);
  const [back, on] = [turn("Back", -perPage), turn("Next", perPage)];

  function order(column, down) {
    const sign = down ? -1 : 1;
    return (one, other) => {
      const [a, b] = [one[column], other[column]];
      if (a === b) return 0;
      // Missing values come last.
      if (a === null || a === undefined) return 1;
      if (b === null || b === undefined) return -1;
      return (a < b ? -1 : 1) * sign;
    };
  }
  function sort(column) {
    const down = sorted.column === column ? !sorted.down : !columns[column].text;
    sorted = { column, down };
    headers.forEach((header, index) => {
      if (index === column) header.setAttribute("aria-sort", down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    });
    select();
  }
  function select() {
    shown = keeps ? rows.filter(keeps) : rows;
    if (sorted.column >= 0) shown = [...shown].sort(order(sorted.column, sorted.down));
    go(0);
  }
  function go(to) {
    at = Math.max(0, Math.min(to, Math.floor(Math.max(shown.length - 1, 0) / perPage) * perPage));
    const part = shown.slice(at, at + perPage);
    body.replaceChildren(
      ...part.map((row) =>
        el(
          "tr",
          {},
          columns.map((column, index) => {
            const text = column.show ? column.show(row[index], row) : column.text ? String(row[index] ?? "–") : number(row[index]);
            const kind = { class: column.text ? "text" : "number", dir: column.text ? "auto" : null };
            if (index === 0) {
              const head = el("th", { scope: "row", ...kind }, text);
              if (column.indent) head.style.setProperty("--depth", Math.min(column.indent(row), DEEPEST));
              return head;
            }
            const cell = el("td", kind, text);
            if (column.bar) bar(cell, column.bar(row[index], row));
            if (column.heat) heat(cell, column.heat(row[index]));
            return cell;
          }),
        ),
      ),
    );
    const range = shown.length === 0 ? "no rows" : `${number(at + 1)} to ${number(at + part.length)} of ${number(shown.length)}`;
    status.textContent = range;
    back.disabled = at === 0;
    on.disabled = at + perPage >= shown.length;
  }
  const tsv = () => {
    const lines = [columns.map((column) => field(column.name)), ...shown.map((row) => columns.map((_, index) => field(row[index])))];
    save(fileName(title, "tsv"), "text/tab-separated-values", lines.map((line) => `${line.join("\t")}\n`).join(""));
  };
  const download = el("button", { type: "button", onclick: tsv, "aria-label": `TSV: ${title}` }, "TSV");
  const whole = el(
    "div",
    { class: "table" },
    el("div", { class: "tools" }, ...filters, download, back, on, status),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
      el("table", {}, el("caption", { class: "hidden" }, title), el("thead", {}, el("tr", {}, headers)), body),
    ),
  );
  whole.select = select;
  if (columns.some((column) => column.bar)) barred.add({ whole, redraw: () => go(at) });
  go(0);
  return whole;
}
