/**
 * How well a chart of some groups splits a cost: the probability that two amounts of the same size, drawn from the
 * cost, are in two different groups of the chart. It is low if one group has nearly everything, and also if there are
 * so many small groups that the chart shows few of them.
 *
 * `shares` are the shares of the cost that the groups of the chart have.
 */
export function splitScore(shares: readonly number[]): number {
  const shown = shares.reduce((sum, share) => sum + share, 0);
  return shares.reduce((sum, share) => sum + share * (shown - share), 0);
}
