/** Parameters, body and response of exports. */
import type { Readable } from "node:stream";
import { Type } from "@sinclair/typebox";
import { exportVersions } from "../../domain/export-versions.js";
import { defaultExportColumns, exportColumnNames } from "../../export/columns.js";
import { focusFormatNames } from "../../export/focus/format.js";
import { exportFormatNames } from "../../export/format.js";
import { choiceSchema } from "./fields.js";
import {
  chargebackFilters,
  dateRange,
  filterFields,
  inputOf,
  tagFields,
  tagFilters,
  timezone,
} from "./parameters.js";

const columns = Type.Array(choiceSchema(exportColumnNames, { description: "A column." }), {
  description: "Columns of the file, in this order; may repeat. Empty: the default columns.",
  maxItems: 100,
  default: [...defaultExportColumns],
  examples: [["timestamp", "identity_id", "amount"]],
});

const bom = Type.Boolean({
  description:
    "`true`: a CSV begins with a byte order mark, so that Excel reads it as UTF-8. Only for CSV, also with FOCUS columns.",
  default: false,
});

export const exportBodySchema = inputOf(
  {
    columns,
    bom,
    ...dateRange,
    ...timezone,
    filters: inputOf(filterFields(chargebackFilters), {
      description:
        "Filters by values, and by labels as `tag:KEY`. With `not:` before a name: only rows that do not match.",
      default: {},
      examples: [{ cost_type: "usage", "tag:team": "payments" }],
      ...tagFields,
    }),
  },
  { title: "ExportBody", description: "Every field is optional, and so is the body." },
);

export const focusVersion = Type.Optional(
  choiceSchema(exportVersions, {
    description:
      "Version of FOCUS. Left out: 1.4. FOCUS 1.2 has no columns for split charges; files of that version have them with the prefix `x_`.",
  }),
);

export const exportParameters = {
  format: Type.Optional(
    choiceSchema([...exportFormatNames, ...focusFormatNames], {
      description:
        "Format of the file; takes precedence over `Accept`. Left out: the format that `Accept` prefers, or CSV. `focus` (CSV) and " +
        "`focus_parquet`: the columns of the FinOps Open Cost and Usage Specification, one row for each part of a charge. Their cells are " +
        "never changed, whatever `raw` is. Filters that would leave out parts of a charge are refused.",
    }),
  ),
  focus_version: focusVersion,
  raw: Type.Boolean({
    description:
      "`false`: text cells that start with `=`, `+`, `-`, `@`, tab or carriage return get an apostrophe in front, so that no " +
      "spreadsheet runs them as formulas. `true`: cells are not changed. Only for CSV.",
    default: false,
  }),
  bom,
  head: Type.Boolean({
    description:
      "`true`: a CSV begins with lines that name the tenant, the period, how many of its days are covered, and its state, before an empty line. Only for CSV with `format=csv`.",
    default: false,
  }),
};

/** All fields of the body as parameters. */
export const exportQuery = inputOf({
  columns: { ...columns, description: `${columns.description} Each is given as its own parameter.` },
  ...dateRange,
  ...timezone,
  ...chargebackFilters,
  ...tagFilters,
  ...exportParameters,
});

// The handler returns a stream; the document describes it as text or bytes.
const text = Type.Unsafe<Readable>({ type: "string" });
const bytes = Type.Unsafe<Readable>({ type: "string", contentEncoding: "binary" });

export const exportResponse = {
  description:
    "The rows in the order of the list of chargebacks. There is no row limit. The name of the file says whether the period is `final`, `provisional` " +
    "(the costs of some days may still change) or incomplete, such as `4-of-31-days_incomplete`. If the connection breaks before its end, the file is " +
    "incomplete. CSV (unless `format` or `Accept` says otherwise): RFC 4180, UTF-8, line feeds, with a header, and with a byte order mark if `bom` is true. Text is quoted where needed; timestamps " +
    "are `2026-01-01T00:00:00Z`; `tags` are display names joined by `;`, with `;` and `\\` in them escaped by `\\`; metadata is JSON. " +
    "Parquet and Arrow: `amount` is a decimal(38, 12), `dimension_id` an unsigned integer, `timestamp` in milliseconds, UTC; `tags` a list of texts, `metadata` JSON as text; " +
    "all others text. Arrow batches are not compressed. A repeated column is named `amount_2` and so on. Only CSV is compressed by `Accept-Encoding`.",
  content: {
    "text/csv": {
      schema: text,
      example: "timestamp,identity_id,amount\n2026-01-01T00:00:00Z,sa-12345,33.3334\n",
    },
    "application/vnd.apache.parquet": { schema: bytes },
    "application/vnd.apache.arrow.stream": { schema: bytes },
  },
};
