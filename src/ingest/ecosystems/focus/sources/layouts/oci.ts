/**
 * Oracle Cloud cost reports: every file adds to the bill. Folders name the day of delivery; only the lines state the
 * days of the charges.
 */
import { hasDataExtension, looksLikeData } from "../file-names.js";
import type { Layout } from "./layout.js";
import { additionOf } from "./plain.js";

export const oci: Layout = async ({ files }) => ({
  bills: files
    .filter(({ name }) => hasDataExtension(name))
    .map((file) => ({ ...additionOf(file), billing_period: undefined })),
  waiting: files
    .filter(({ name }) => looksLikeData(name))
    .map(({ name }) => ({ name, reason: "only .csv, .csv.gz, .csv.zst and .parquet are read" })),
});
