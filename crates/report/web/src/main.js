// A page of results, with a section for each kind of data.
import { about, notes, warnings } from "./about.js";
import { assemblies } from "./assembly.js";
import { drawAll } from "./chart.js";
import { compare } from "./compare.js";
import { contents } from "./contents.js";
import { databases } from "./database.js";
import { decisions } from "./decisions.js";
import { el } from "./dom.js";
import { headline } from "./headline.js";
import { mappings } from "./mapping.js";
import { isDark, onTheme, startTheme, toggle } from "./palette.js";
import { unfoldForPrint } from "./print.js";
import { reads } from "./reads.js";
import { searches } from "./search.js";
import { selections } from "./selection.js";
import { spectra } from "./spectrum.js";
import { taxa } from "./taxa.js";
import { chooseColours } from "./taxcolours.js";

const all = JSON.parse(document.getElementById("data").textContent);
const has = (key) => all.some((data) => (Array.isArray(data[key]) ? data[key].length > 0 : data[key]));

chooseColours(all.flatMap(({ taxa, database }) => taxa ?? (database ? { reads: database.rows[0]?.c ?? 0, rows: database.rows } : [])));
startTheme();
const theme = document.getElementById("theme");
const label = () => (theme.textContent = isDark() ? "Light" : "Dark");
theme.hidden = false;
theme.addEventListener("click", toggle);
onTheme(label);
label();

unfoldForPrint();

const main = document.querySelector("main");
// Draws charts that are added later.
main.addEventListener("drawn", () => drawAll());
const { nav, update } = contents(main);
main.append(
  ...[
    headline(all),
    warnings(all),
    nav,
    has("spectrum") && spectra(all),
    has("taxa") && compare(all),
    has("taxa") && taxa(all),
    has("database") && databases(all),
    has("assembly") && assemblies(all),
    has("mapping") && mappings(all),
    has("selection") && selections(all),
    has("decisions") && decisions(all),
    has("search") && searches(all),
    has("reads") && reads(all),
    all.length === 0 && el("p", { class: "empty" }, "There are no results."),
    notes(all),
    about(all),
  ].filter(Boolean),
);
update();
drawAll();
document.documentElement.dataset.ready = "yes";
