// The list of the page's sections and charts, with links.
import { el, short } from "./dom.js";

/** The maximum number of charts of a section in the list. */
const MOST = 12;

/** Makes the list, which follows changes of the page's charts. */
export function contents(main) {
  const list = el("ul");
  const update = () => list.replaceChildren(...[...main.querySelectorAll(":scope > section:not(.headline, .warnings)")].map(item));
  const nav = el("nav", { "aria-label": "Contents" }, list);
  main.addEventListener("drawn", update);
  return { nav, update };
}

const link = (to, text) => el("a", { href: `#${to}`, dir: "auto" }, short(text, 50));

function item(section, at) {
  const heading = section.querySelector("h2");
  heading.id ||= `section${at + 1}`;
  const charts = [...section.querySelectorAll("figcaption[id]")].slice(0, MOST).map((caption) => el("li", {}, link(caption.id, caption.querySelector("h3").textContent)));
  return el("li", {}, link(heading.id, heading.textContent), charts.length > 0 ? el("ul", {}, charts) : null);
}
