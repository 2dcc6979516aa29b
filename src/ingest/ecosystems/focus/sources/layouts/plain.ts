/** Files as they are: all of a month are its bill, or each adds to what there is. */
import { compare, hasDataExtension, looksLikeData, stemOf } from "../file-names.js";
import { type Bill, grouped, type Layout } from "./layout.js";

/** A month that is not the beginning of a date: `2026-05`, not `2026-05-31`, which may be the day of delivery. */
const MONTH = /(?<![\d])(20\d\d-(?:0[1-9]|1[0-2]))(?![\d]|-\d)/g;

/** The month that a path names, unless it names several. */
function monthOf(name: string): string | undefined {
  const months = new Set([...name.matchAll(MONTH)].map(([, month]) => month));
  return months.size === 1 ? [...months][0] : undefined;
}

export const plain: Layout = async ({ files, delivery }) => {
  const bills = files.filter(({ name }) => hasDataExtension(name));
  const waiting = files
    .filter(({ name }) => looksLikeData(name))
    .map(({ name }) => ({ name, reason: "only .csv, .csv.gz, .csv.zst and .parquet are read" }));
  if (delivery === "additive") return { bills: bills.map(additionOf), waiting };
  const months = grouped(bills, ({ name }) => monthOf(name) ?? "");
  return {
    waiting,
    bills: [...months].map(([month, parts]): Bill => {
      const mixed = month === "" && months.size > 1;
      return {
        name: month === "" ? "files that name no month" : month,
        billing_period: month === "" ? undefined : month,
        kind: "snapshot",
        files: parts,
        remarks: [
          ...(mixed ? ["Some files name no month in their path, while others do."] : []),
          ...twins(parts.map(({ name }) => name)),
        ],
      };
    }),
  };
};

/** One file that adds to what there is. */
export function additionOf(file: Parameters<Layout>[0]["files"][number]): Bill {
  return {
    name: file.name,
    billing_period: monthOf(file.name),
    kind: "additive",
    files: [file],
    remarks: [],
  };
}

/** `a.csv` beside `a.parquet` is often one bill in two formats. */
function twins(names: readonly string[]): string[] {
  return [...grouped([...names].sort(compare), stemOf).values()]
    .filter((same) => same.length > 1)
    .map((same) => `These files have one name and are all counted: ${same.join(", ")}.`);
}
