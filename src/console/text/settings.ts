/** Texts of the settings. */
import { counted } from "../../common/plural.js";

export const settingsTexts = {
  access: "Access",
  accessHint: "Tokens, sessions and the audit concern all tenants.",
  uploads: "Uploads of usage",
  uploadsHint:
    "Rules by usage split lines by it. A new upload replaces the usage of each day and metric that it has.",
  noUploads: "No usage was uploaded.",
  notTaken:
    "This tenant takes no uploads: its configuration names no metrics for them (usage.uploads.metrics of the ecosystem focus).",
  count: (uploads: number) => counted(uploads, "upload", "uploads"),
  key: "Name",
  origin: "By",
  origins: { api: "upload", folder: "folder" },
  state: "State",
  states: { stored: "stored", refused: "refused", loading: "loading" },
  days: "Days",
  metrics: "Metrics",
  rows: "Rows",
  inEffect: "In effect",
  inEffectOf: (now: number, all: number) =>
    `${now.toLocaleString("en")} of ${counted(all, "day and metric", "days and metrics")}`,
  received: "Received",
  problems: (count: number) => counted(count, "problem", "problems"),
  problem: (row: number | null, column: string | null, detail: string) =>
    [row === null ? [] : `row ${row}`, column ?? []].flat().concat(detail).join(": "),
  upload: "Upload a CSV",
  file: "File",
  name: "Name of the upload",
  nameHint: "If the same name is sent with the same file again, it counts once.",
  send: "Upload",
  done: (rows: number, days: number) =>
    `${counted(rows, "row", "rows")} stored. The next run calculates ${counted(days, "day", "days")} again if the usage differs.`,
  focus: "FOCUS export",
  focusHint:
    "Chargebacks as a Cost and Usage file of FOCUS. It replaces the bill that it was made from: load only one of them.",
  format: "Format",
  formats: { focus: "CSV", focus_parquet: "Parquet" },
  version: "Version",
  download: "Download",
  metadata: "Metadata",
  command: "The same by command. TOKEN is a token with the scope read.",
  sql: "SQL port",
  sqlClosed:
    "The SQL port is not open for this tenant. An administrator opens it with embedded.sql_port and a SQL user.",
  sqlServer: "This tenant is on a ClickHouse server of your own: use a reader of that server.",
  sqlHint:
    "BI tools query the views over the HTTP protocol of ClickHouse, read-only. An administrator gives you a SQL user.",
  host: "Host",
  port: "Port",
  database: "Database",
  tls: "TLS",
  yes: "yes",
  no: "no",
} as const;
