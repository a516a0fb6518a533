// The decisions of a filter.
import { histogram } from "./bars.js";
import { el, percent, short } from "./dom.js";
import { table } from "./table.js";

/** Explains whether the edits are exact. */
function kinds(samples) {
  const [exact, estimated] = [true, false].map((is) => samples.filter(({ decisions }) => decisions.is_exact === is));
  if (estimated.length === 0) return "The edits are exact.";
  if (exact.length === 0) return "The edits are lower bounds: pairs may have more.";
  return `The edits of ${estimated.map(({ sample }) => short(sample)).slice(0, 10).join(", ")} are lower bounds: pairs may have more.`;
}

export function decisions(all) {
  const samples = all.filter((data) => data.decisions);
  return el(
    "section",
    { "aria-label": "Decisions of the filter" },
    el("h2", {}, "Decisions of the filter"),
    table({
      title: "Accepted and rejected pairs",
      columns: [
        { name: "Sample", text: true, show: short },
        { name: "Pairs" },
        { name: "Accepted" },
        { name: "Rejected" },
        { name: "Undefined (accepted)" },
        { name: "Share accepted", show: (value) => percent(value) },
      ],
      rows: samples.map(({ sample, decisions: { pairs, accepted, undefined } }) => [
        sample,
        pairs,
        accepted,
        pairs - accepted,
        undefined,
        pairs > 0 ? accepted / pairs : null,
      ]),
    }),
    histogram({
      title: "Edits of accepted pairs",
      about: `Accepted pairs by their edits. ${kinds(samples)}`,
      axis: "Edits",
      unit: "Pairs",
      samples: samples.map((data) => [data.sample, data.decisions.edits]),
    }),
  );
}
