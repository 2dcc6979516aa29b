/** All statements of a period. */
import type { Readable } from "node:stream";
import { Type } from "@sinclair/typebox";
import { payerColumns } from "../../query/chargebacks/payers.js";
import { exportParameters } from "./export.js";
import { choiceSchema } from "./fields.js";
import { dateRange, inputOf, timezone } from "./parameters.js";

export const statementsQuery = inputOf({
  by: choiceSchema(payerColumns, {
    description: "Whose statements: one for each identity, or one for each team.",
    default: "identity_id",
  }),
  ...dateRange,
  ...timezone,
  raw: exportParameters.raw,
  bom: exportParameters.bom,
});

export const statementsResponse = {
  description:
    "A ZIP with one CSV for each identity or team that pays for something in the period, as an export with `head=true`, and `index.csv`, which lists the files with " +
    "the ids, names and sums. Names of files are numbers and ASCII letters. If the connection breaks before its end, the file is incomplete.",
  content: {
    "application/zip": { schema: Type.Unsafe<Readable>({ type: "string", contentEncoding: "binary" }) },
  },
};
