/** Uploads of usage. */
import type { Readable } from "node:stream";
import { Type } from "@sinclair/typebox";
import { uploadStates } from "../../query/state/usage-uploads.js";
import { choiceSchema, countSchema, instantSchema, nullableText, textSchema } from "./fields.js";
import { pageSchema } from "./page.js";

const days = (description: string, example: string[]) =>
  Type.Array(Type.String({ format: "date" }), { description, examples: [example] });

const metrics = Type.Array(Type.String(), {
  description: "Metrics that it has rows of.",
  examples: [["gpu_hours"]],
});

const optionalCount = (description: string, example: number) =>
  Type.Unsafe<number | null>({ type: ["integer", "null"], minimum: 0, description, examples: [example] });

const optionalDay = (description: string) =>
  nullableText({ description, format: "date", examples: ["2026-05-01"] });

const uploadId = countSchema("Number of the upload.", 12);
const key = textSchema(
  "`Idempotency-Key` of the request, or name and version of a file in the folder.",
  "gpus-2026-05-01",
);

/** CSV as a stream, which the handler reads. */
export const usageCsvSchema = Type.Unsafe<Readable | undefined>({
  type: "string",
  contentMediaType: "text/csv",
  description:
    "CSV with a header: `date` (`2026-05-01`) or `hour` (`2026-05-01T14:00:00Z`), `metric`, `resource_id`, `identity_id` and `quantity` (a decimal " +
    "of 0 or more; rounded to 6 places), in any order. Rows of the same hour, metric, resource and identity add up.",
  examples: [
    "date,metric,resource_id,identity_id,quantity\n2026-05-01,gpu_hours,gpu-1,team-a,12.5\n2026-05-01,gpu_hours,gpu-1,team-b,3\n",
  ],
});

export const idempotencyKeySchema = Type.Object({
  "Idempotency-Key": Type.String({
    description:
      "Name of the upload, of your choice: 1 to 200 printable ASCII characters. The same key with the same body returns the same response, without " +
      "another upload; with another body it is refused. The key of a refused upload can be used again.",
    pattern: "^[\\x21-\\x7e]([\\x20-\\x7e]{0,198}[\\x21-\\x7e])?$",
    examples: ["gpus-2026-05-01"],
  }),
});

export const usageUploadSchema = Type.Object(
  {
    upload_id: uploadId,
    idempotency_key: key,
    rows: countSchema("Number of its rows.", 2),
    metrics,
    first_day: Type.String({
      description: "First UTC day that it has rows of.",
      format: "date",
      examples: ["2026-05-01"],
    }),
    last_day: Type.String({
      description: "Last UTC day that it has rows of.",
      format: "date",
      examples: ["2026-05-01"],
    }),
    days_to_recalculate: days(
      "Days that the next run calculates again if their usage differs. A day that is not gathered yet is calculated once it is.",
      ["2026-05-01"],
    ),
    days_past_lookback: days(
      "Days before the tenant's `lookback_days`: runs do not gather them, and their chargebacks stay until `lookback_days` reaches them.",
      [],
    ),
  },
  { title: "UsageUpload", description: "Usage that was uploaded." },
);

const UsageUploadProblem = Type.Object(
  {
    row: optionalCount(
      "Number of the row: 0 is the header, 1 the first row after it. Null for the file as a whole.",
      3,
    ),
    column: nullableText({
      description: "Column; null if the problem is not about one column.",
      examples: ["quantity"],
    }),
    detail: textSchema(
      "What is allowed, as a sentence.",
      "Must be a decimal of 0 or more, below 10^24, such as 12.5 or 1e-3.",
    ),
  },
  { title: "UsageUploadProblem" },
);

const ListedUsageUpload = Type.Object(
  {
    upload_id: uploadId,
    idempotency_key: key,
    origin: choiceSchema(["api", "folder"], { description: "Where it came from.", examples: ["api"] }),
    state: choiceSchema(uploadStates, {
      description:
        "`stored`: completely stored. `refused`: nothing of it is stored; only for files in the folder. `loading`: not stored yet.",
      examples: ["stored"],
    }),
    rows: optionalCount("Number of its rows; null when it is not stored.", 2),
    size: optionalCount("Size in bytes; null when it is not stored.", 120),
    metrics,
    first_day: optionalDay("First UTC day that it has rows of; null when it is not stored."),
    last_day: optionalDay("Last UTC day that it has rows of; null when it is not stored."),
    day_metrics: optionalCount(
      "Pairs of a day and a metric that it has rows of; null when it is not stored.",
      1,
    ),
    day_metrics_in_effect: countSchema("Those of them that no newer upload has replaced.", 1),
    problems: Type.Array(UsageUploadProblem, { description: "Why it was refused: up to 20 problems." }),
    started_at: instantSchema("When it was received."),
    ended_at: nullableText({
      description: "When it was stored or refused; null while it is loading. UTC.",
      format: "date-time",
      examples: ["2026-06-01T04:00:00Z"],
    }),
  },
  { title: "ListedUsageUpload", description: "An upload of usage, and how much of it is in effect." },
);

export const usageUploadPageSchema = (order: string) =>
  Type.Object(
    {
      ...pageSchema(ListedUsageUpload, order).properties,
      accepted_metrics: Type.Array(Type.String(), {
        description:
          "Metrics that uploads may have (`usage.uploads.metrics`). Empty: the tenant takes no uploads.",
        examples: [["gpu_hours"]],
      }),
    },
    { description: "A page of uploads." },
  );
