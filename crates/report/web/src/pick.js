// One sample of many at a time: the charts of all would be too many to draw, and to look at.
import { choice } from "./chart.js";
import { el, short } from "./dom.js";

/** What `draw` makes of one of the samples, below a list to choose it from. */
export function oneOf(samples, draw) {
  const place = el("div");
  const show = (index) => {
    place.replaceChildren(...draw(samples[index]));
    place.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  };
  show(0);
  if (samples.length < 2) return [place];
  const names = samples.map(({ sample }, index) => [String(index), short(sample)]);
  return [el("p", { class: "tools" }, choice("Sample", names, (value) => show(Number(value)))), place];
}
