/**
 * Keeps the metadata of a line within the size that the staging tables allow, however many rows were merged into it.
 */

/** Half of the allowed size. A thousand rows in one line are some 200 KB. */
const LARGEST = 500_000;

/**
 * Shortens lists that do not fit, and states how many entries were left out. Amounts are already summed, so only their
 * explanation gets shorter. The lists are sorted, so the same rows always lose the same entries.
 */
export function fittingMetadata(
  common: Readonly<Record<string, unknown>>,
  tiers: readonly Readonly<Record<string, unknown>>[],
): Record<string, unknown> {
  if (tiers.length === 0) return { ...common }; // one row, whose texts are shortened when they are read
  for (let most = tiers.length; ; most = Math.floor(most / 2)) {
    const metadata = withMost(common, tiers, most);
    if (most === 0 || JSON.stringify(metadata).length <= LARGEST) return metadata;
  }
}

function withMost(
  { vendor_ids: ids, ...common }: Readonly<Record<string, unknown>>,
  tiers: readonly Readonly<Record<string, unknown>>[],
  most: number,
): Record<string, unknown> {
  const keptIds = Array.isArray(ids) ? ids.slice(0, Math.max(most, 1)) : undefined;
  return {
    ...common,
    ...(keptIds === undefined ? {} : { vendor_ids: keptIds }),
    tiers: tiers.slice(0, most),
    ...(most < tiers.length ? { tiers_left_out: tiers.length - most } : {}),
  };
}
