// The runs: warnings, inputs, parameters and versions.
import { el, short } from "./dom.js";

export function warnings(all) {
  const told = all.flatMap(({ sample, warnings }) => warnings.map((text) => [sample, text]));
  if (told.length === 0) return null;
  return el("section", { class: "warnings", "aria-label": "Warnings" }, el("h2", {}, "Warnings"), lines(told));
}

/** Remarks that are no warnings. */
export function notes(all) {
  const told = all.flatMap(({ sample, notes }) => (notes ?? []).map((text) => [sample, text]));
  return told.length === 0 ? null : el("section", { "aria-label": "Notes" }, el("h2", {}, "Notes"), lines(told));
}

const lines = (told) => el("ul", {}, told.map(([sample, text]) => el("li", {}, el("strong", {}, `${short(sample)}: `), short(text, 1000))));

const MOST = 100;

export function about(all) {
  const items = all.slice(0, MOST).map(({ sample, command, version, inputs, parameters }) =>
    el(
      "details",
      { open: all.length <= 3, class: "run" },
      el("summary", {}, `${short(sample)}: merganser ${short(command)}, version ${short(version)}`),
      el(
        "dl",
        {},
        el("dt", {}, "Inputs"),
        el("dd", {}, inputs.length > 0 ? inputs.slice(0, MOST).map((name) => short(name, 200)).join(", ") : "–"),
        parameters.flatMap(([name, value]) => [el("dt", {}, short(name)), el("dd", {}, short(value, 200))]),
      ),
    ),
  );
  const more = all.length > MOST ? el("p", {}, `${all.length - MOST} more samples are not listed.`) : null;
  return el("section", { "aria-label": "Inputs and parameters" }, el("h2", {}, "Inputs and parameters"), items, more);
}
