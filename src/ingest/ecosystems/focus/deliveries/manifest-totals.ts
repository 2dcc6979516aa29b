/**
 * Compares the totals that manifests state with the files that were read. A difference does not hold the bill back,
 * because there is nothing else to charge; every run reports it while the bill counts.
 */
import { differenceText } from "../../../../common/exact-decimal.js";
import { type CurrencySums, type Finding, summarisedLines, sumsByCurrency } from "../load/summary.js";
import type { ManifestTotals } from "../sources/delivery.js";
import { quoted } from "../sources/file-names.js";

export const MANIFEST_TOTALS = "manifest_totals";
/** Files of a manifest that get a sentence of their own. */
const MOST_FILES = 5;
const ADVICE = "run the export again, because rows may be missing or may be there twice";

const comparedCosts = [
  ["BilledCost", "billed_cost"],
  ["EffectiveCost", "effective_cost"],
  ["ListCost", "list_cost"],
  ["ContractedCost", "contracted_cost"],
] as const;

/** A file of a delivery, with its size in bytes and the sums of its lines. */
export interface ReadFile {
  readonly size: number;
  readonly sums: readonly CurrencySums[];
}

/**
 * @param read the files of the delivery by name; files that are not bills are missing, and their manifests are not
 * compared
 */
export function manifestFindings(
  manifests: readonly ManifestTotals[],
  read: ReadonlyMap<string, ReadFile>,
): Finding[] {
  return manifests
    .filter(({ files }) => [...files.keys()].every((name) => read.has(name)))
    .flatMap((manifest) => findingsOf(manifest, read));
}

function findingsOf(manifest: ManifestTotals, read: ReadonlyMap<string, ReadFile>): Finding[] {
  const files = [...manifest.files].map(([name, stated]) => {
    const { size, sums } = read.get(name) ?? { size: 0, sums: [] };
    return { name, stated, size, sums, rows: summarisedLines(sums) };
  });
  const sums = sumsByCurrency(files.flatMap((file) => file.sums));
  const rows = summarisedLines(sums);
  const bytes = files.reduce((total, { size }) => total + size, 0);
  const states = quoted(manifest.manifest);
  const finding = (what: string, lines: number): Finding => ({
    id: MANIFEST_TOTALS,
    lines,
    examples: [],
    what: `${what}: ${ADVICE}`,
  });
  const differing = files.filter((file) => file.stated !== undefined && file.stated !== file.rows);
  const found = differing
    .slice(0, MOST_FILES)
    .map((file) =>
      finding(`${quoted(file.name)} has ${file.rows} rows, and ${states} states ${file.stated}`, file.rows),
    );
  const rest = differing.slice(MOST_FILES);
  if (rest.length > 0)
    found.push(
      finding(
        `${rest.length} more files of ${states} have other numbers of rows than it states`,
        rest.reduce((total, file) => total + file.rows, 0),
      ),
    );
  // The total would only repeat the differences of the files.
  if (differing.length === 0 && manifest.rows !== undefined && manifest.rows !== rows)
    found.push(finding(`the files of ${states} have ${rows} rows, and it states ${manifest.rows}`, rows));
  if (manifest.bytes !== undefined && manifest.bytes !== bytes)
    found.push(finding(`the files of ${states} have ${bytes} bytes, and it states ${manifest.bytes}`, rows));
  for (const { currency, ...stated } of manifest.currencies) {
    const own = sums.find((each) => each.currency === currency);
    for (const [column, name] of comparedCosts) {
      const cost = own?.[name] ?? "0";
      if (differenceText(cost, stated[column]) !== "0")
        found.push(
          finding(
            `the files of ${states} have ${column} ${cost} ${currency}, and it states ${stated[column]} ${currency}`,
            own?.lines ?? 0,
          ),
        );
    }
  }
  return found;
}
