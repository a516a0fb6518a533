// Charts of a taxon and the taxa below it, with navigation by name, by click and to the parent.
import { el, number, percent, short } from "./dom.js";
import { flows } from "./flows.js";
import { sunburst } from "./sunburst.js";
import { clade, isMain, nearest } from "./taxonomy.js";

/** The charts of a sample's taxa. `numbers` returns the table of all taxa. */
export function clades(data, numbers) {
  const { taxa: of, sample } = data;
  const above = nearest(of, isMain);
  const find = el("input", { type: "search", placeholder: "name or taxid" });
  const told = el("span", { role: "status" });
  const place = el("div");
  let at = -1;

  /** Shows the taxon of a row, or all taxa (-1). */
  function go(to) {
    at = to;
    const part = clade(of, at);
    const name = at < 0 ? short(sample) : `${short(of.rows[at].n)} in ${short(sample)}`;
    // Row numbers in the clade start at its own taxon; `null` is the center and leads to the parent, and negative numbers are not taxa.
    const into = (row) => (row === null ? up() : row >= 0 && go(Math.max(at, 0) + row));
    place.replaceChildren(
      sunburst({ of: part, title: `Sunburst of ${name}`, go: into, numbers }),
      flows({ of: part, title: `Flows of ${name}`, go: into }),
    );
    told.textContent = path();
    back.disabled = all.disabled = at < 0;
    place.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }
  const up = () => at >= 0 && go(above[at]);
  function path() {
    if (at < 0) return "All reads";
    const names = [];
    for (let row = at; row >= 0; row = above[row]) names.unshift(short(of.rows[row].n));
    const { c } = of.rows[at];
    return `${names.join(" › ")}: ${number(c)} reads, ${percent(c / of.reads)}`;
  }
  function search() {
    const wanted = find.value.trim().toLowerCase();
    if (wanted === "") return go(-1);
    const found = best(of.rows, wanted);
    if (found < 0) told.textContent = "No taxon with reads has that name.";
    else go(found);
  }
  find.addEventListener("change", search);
  const button = (label, onclick) => el("button", { type: "button", onclick }, label);
  const [back, all] = [button("Up", up), button("All", () => ((find.value = ""), go(-1)))];
  const tools = el("div", { class: "tools clades", role: "group", "aria-label": "Taxon of the charts" }, el("label", {}, "Find ", find), button("Go to", search), back, all, told);
  go(-1);
  return el("div", {}, tools, place);
}

/** The row that matches a search: the row with this name or taxid, otherwise the largest whose name contains it; -1 without a match. */
function best(rows, wanted) {
  let found = -1;
  for (const [row, { n, t, c }] of rows.entries()) {
    if (c === 0) continue;
    const name = n.toLowerCase();
    if (name === wanted || String(t) === wanted) return row;
    if (name.includes(wanted) && (found < 0 || c > rows[found].c)) found = row;
  }
  return found;
}
