/** Plain files: all files of a month are its bill, or each file adds to it. */
import { hasDataExtension, looksLikeData } from "../file-names.js";
import { type BillFile, groupFiles, type Layout } from "./layout.js";

/** Matches a month that does not begin a date: `2026-05`, but not `2026-05-31`, which may be the day of delivery. */
const MONTH = /(?<![\d])(20\d\d-(?:0[1-9]|1[0-2]))(?![\d]|-\d)/g;

/** Folders such as `year=2026/month=10`, as Hive and Spark write them, and `202610`. */
const FOLDERS = /(?<=^|\/)(?:year=(20\d\d)\/month=(0?[1-9]|1[0-2])|(20\d\d)(0[1-9]|1[0-2]))(?=\/)/gi;

/** Returns the month that a path names. Undefined if it names several. */
function monthOf(name: string): string | undefined {
  const inFolders = [...name.matchAll(FOLDERS)].map(
    ([, hiveYear, hiveMonth, year, month]) =>
      `${hiveYear ?? year}-${(hiveMonth ?? month ?? "").padStart(2, "0")}`,
  );
  const months = new Set([...[...name.matchAll(MONTH)].map(([, month]) => month), ...inFolders]);
  return months.size === 1 ? [...months][0] : undefined;
}

export const plainLayout: Layout = async ({ files, delivery }) => {
  const bills = files.filter(({ name }) => hasDataExtension(name));
  const waiting = files
    .filter(({ name }) => looksLikeData(name))
    .map(({ name }) => ({ name, reason: "only .csv, .csv.gz, .csv.zst and .parquet are read" }));
  if (delivery === "additive") return { bills: bills.map(additionOf), waiting };
  const months = groupFiles(bills, ({ name }) => monthOf(name) ?? "");
  return {
    waiting,
    bills: [...months].map(([month, parts]): BillFile => {
      const mixed = month === "" && months.size > 1;
      return {
        name: month === "" ? "files that name no month" : month,
        billing_period: month === "" ? undefined : month,
        kind: "snapshot",
        files: parts,
        remarks: mixed ? ["Some files name no month in their path, while others do."] : [],
      };
    }),
  };
};

/** One file that adds to the bill. */
export function additionOf(file: Parameters<Layout>[0]["files"][number]): BillFile {
  return {
    name: file.name,
    billing_period: monthOf(file.name),
    kind: "additive",
    files: [file],
    remarks: [],
  };
}
