// Elements of the page. Texts are nodes, never markup, because names of taxa, samples and files may contain any characters.

/** An element with properties (`class`, `on…`, attributes) and children, which are elements or texts. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

let last = 0;

/** A new unique id. */
export const freshId = () => `e${++last}`;

const MOST = 60;

/** A name that fits a chart: shortened, and without invisible characters. */
export function short(name, most = MOST) {
  const seen = String(name).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD");
  const letters = [...seen.slice(0, 2 * most)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : seen;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const few = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** Formats a number for people. */
export const number = (value) =>
  value === null || value === undefined ? "–" : Number.isInteger(value) ? whole.format(value) : exact.format(value);
export const percent = (part, digits = 2) =>
  part === null || part === undefined ? "–" : `${(100 * part).toFixed(digits)} %`;
export const compact = (value) => few.format(value);

/** Starts the download of a file. */
export function save(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Makes a file name of a title. */
export const fileName = (title, end) =>
  `${short(title, 80).replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "") || "chart"}.${end}`;
