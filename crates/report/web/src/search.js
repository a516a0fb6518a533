// The hits of patterns: a line for each pattern, with the number of hits by edits.
import { histogram } from "./bars.js";
import { el, short } from "./dom.js";
import { table } from "./table.js";

/** Returns a function that maps numbers to 0 to 1, by their logarithm. */
function scale(most) {
  return (value) => (value && most > 0 ? Math.log1p(value) / Math.log1p(most) : 0);
}

export function searches(all) {
  const samples = all.filter((data) => data.search);
  const columns = samples.reduce((most, { search }) => search.patterns.reduce((so, { h }) => Math.max(so, h.length), most), 0);
  const several = samples.length > 1;
  const rows = samples.flatMap(({ sample, search }) =>
    search.patterns.map(({ n, l, h }) => {
      const counts = Array.from({ length: columns }, (_, edits) => h[edits] ?? null);
      return [n, ...(several ? [sample] : []), ...counts, h.reduce((sum, hits) => sum + hits, 0), l];
    }),
  );
  const first = several ? 2 : 1;
  const most = Array.from({ length: columns + 1 }, (_, at) => rows.reduce((so, row) => Math.max(so, row[first + at] ?? 0), 0));
  const count = (name, at) => ({ name, heat: scale(most[at]) });
  return el(
    "section",
    { "aria-label": "Hits of patterns" },
    el("h2", {}, "Hits of patterns"),
    el("p", {}, "Colours compare the patterns within a column. Patterns that may not have a number of edits have no number there."),
    table({
      title: "Hits by pattern and edits",
      columns: [
        { name: "Pattern", text: true, show: short },
        ...(several ? [{ name: "Sample", text: true, show: short }] : []),
        ...Array.from({ length: columns }, (_, edits) => count(edits === 1 ? "1 edit" : `${edits} edits`, edits)),
        count("All hits", columns),
        { name: "Letters", text: true, show: short },
      ],
      rows,
    }),
    histogram({
      title: "Edits of hits",
      about: "Hits of all patterns by their edits.",
      axis: "Edits",
      unit: "Hits",
      samples: samples.map((data) => [data.sample, data.search.edits]),
    }),
  );
}
