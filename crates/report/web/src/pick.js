// Shows one of many samples at a time, because the charts of all would be too many.
import { choice } from "./chart.js";
import { el, short } from "./dom.js";

/** A list to choose a sample, or something else that `label` names, and below it what `draw` makes of that sample. */
export function oneOf(samples, draw, label = "Sample") {
  const place = el("div");
  const show = (index) => {
    place.replaceChildren(...draw(samples[index]));
    place.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  };
  show(0);
  if (samples.length < 2) return [place];
  const names = samples.map(({ sample }, index) => [String(index), short(sample)]);
  return [el("p", { class: "tools" }, choice(label, names, (value) => show(Number(value)))), place];
}
