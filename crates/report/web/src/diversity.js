// Numbers of a sample's diversity, and an order of samples that puts similar ones side by side.

/** The diversity of taxa by their reads: their number, Shannon's and Simpson's index, and evenness. */
export function diversity(reads) {
  const all = [...reads].filter((many) => many > 0);
  const sum = all.reduce((total, many) => total + many, 0);
  if (sum === 0) return { richness: 0, shannon: null, simpson: null, evenness: null };
  const shares = all.map((many) => many / sum);
  const shannon = -shares.reduce((total, share) => total + share * Math.log(share), 0);
  const simpson = 1 - shares.reduce((total, share) => total + share * share, 0);
  return { richness: all.length, shannon, simpson, evenness: all.length > 1 ? shannon / Math.log(all.length) : null };
}

/** Bray–Curtis dissimilarities (1957) of shares: 0 for equal shares, 1 for nothing in common, `null` for a sample without reads. */
export function distances(samples) {
  const shares = samples.map((reads) => {
    const sum = [...reads.values()].reduce((all, many) => all + many, 0);
    return new Map([...reads].map(([name, many]) => [name, sum > 0 ? many / sum : 0]));
  });
  return shares.map((one) =>
    shares.map((other) => {
      let common = 0;
      for (const [name, share] of one) common += Math.min(share, other.get(name) ?? 0);
      return one.size === 0 || other.size === 0 ? null : Math.max(0, 1 - common);
    }),
  );
}

/** The order of the leaves of a tree of average linkage (UPGMA). Unknown distances are 1. */
export function clustered(unlike) {
  let groups = unlike.map((_, at) => [at]);
  const near = unlike.map((row) => row.map((value) => value ?? 1));
  // near[i][j]: the mean distance of the groups i and j; groups that were joined are removed.
  let alive = groups.map((_, at) => at);
  while (alive.length > 1) {
    let best = [alive[0], alive[1]];
    for (const [place, one] of alive.entries()) for (const other of alive.slice(place + 1)) if (near[one][other] < near[best[0]][best[1]]) best = [one, other];
    const [one, other] = best;
    const [few, many] = [groups[one].length, groups[other].length];
    for (const third of alive) near[one][third] = near[third][one] = (few * near[one][third] + many * near[other][third]) / (few + many);
    near[one][one] = 0;
    groups[one] = joined(groups[one], groups[other], unlike);
    alive = alive.filter((group) => group !== other);
  }
  return alive.length > 0 ? groups[alive[0]] : [];
}

/** Joins two groups so that the most similar ends meet. */
function joined(one, other, unlike) {
  const far = (a, b) => unlike[a][b] ?? 1;
  const ways = [
    [one, other],
    [one, [...other].reverse()],
    [[...one].reverse(), other],
    [[...one].reverse(), [...other].reverse()],
  ];
  const best = ways.reduce((best, way) => (far(way[0].at(-1), way[1][0]) < far(best[0].at(-1), best[1][0]) ? way : best));
  return best.flat();
}
