/** Deliveries of bills. */
import { Type } from "@sinclair/typebox";
import { deliveryStates } from "../../query/state/deliveries.js";
import { classSums } from "./control-totals.js";
import {
  choiceSchema,
  countSchema,
  currency,
  decimalSchema,
  instantSchema,
  nullableText,
  textSchema,
} from "./fields.js";

const optionalInstant = (description: string) =>
  nullableText({
    description: `${description} UTC.`,
    format: "date-time",
    examples: ["2026-06-01T04:00:00Z"],
  });

const optionalDay = (description: string) =>
  nullableText({ description, format: "date", examples: ["2026-05-01"] });

const DeliveryFile = Type.Object(
  {
    name: textSchema("Path or key within the source.", "2026-05/part-00001.parquet"),
    size: countSchema("Size in bytes.", 1_048_576),
    version: textSchema("Differs when the content does: an ETag, or time and size of the file.", '"9b2cf5"'),
    format: choiceSchema(["CSV", "Parquet"], {
      description: "Format of the content.",
      examples: ["Parquet"],
    }),
    focus_version: nullableText({
      description: "Version of FOCUS that its columns belong to; null if they fit several.",
      examples: ["1.2"],
    }),
    dataset: nullableText({
      description:
        "What the file is instead of a bill, such as `contract commitments of FOCUS`; none of its rows is a line. Null for a bill.",
      examples: [null],
    }),
  },
  { title: "DeliveryFile" },
);

const DuplicateFile = Type.Object(
  {
    name: textSchema("Path or key within the source.", "2026-05/part-00001 (1).parquet"),
    size: countSchema("Size in bytes.", 1_048_576),
    same_as: textSchema("The file that counts.", "2026-05/part-00001.parquet"),
    same_as_source: textSchema("Name of the source that has that file.", "aws"),
  },
  { title: "DuplicateFile" },
);

const DeliveryOverlap = Type.Object(
  {
    name: textSchema("File of this delivery, or export whose manifest names its files.", "2026-05.csv"),
    other_delivery_id: countSchema("Id of the other delivery; this one where two of its files overlap.", 11),
    other_name: textSchema("File or export of the other delivery.", "2026-05-final.csv"),
    account_id: textSchema("BillingAccountId of the charges.", "123456789012"),
    billing_period: textSchema("Month of the bill.", "2026-05"),
    days: Type.Array(Type.String({ format: "date" }), {
      description: "UTC days that are in both.",
      examples: [["2026-05-01"]],
    }),
    amounts: Type.Array(
      Type.Object({ currency, amount: decimalSchema("What this bill charges on these days.", "1250.75") }),
      { description: "Amounts by currency." },
    ),
  },
  { title: "DeliveryOverlap" },
);

const DeliverySums = Type.Object(
  {
    currency,
    lines: countSchema("Lines in this currency.", 1200),
    billed_cost: decimalSchema("Sum of BilledCost.", "1250.75"),
    effective_cost: decimalSchema("Sum of EffectiveCost.", "1201.5"),
    contracted_cost: decimalSchema("Sum of ContractedCost.", "1201.5"),
    list_cost: decimalSchema("Sum of ListCost.", "1400"),
  },
  {
    title: "DeliverySums",
    description: "Sums of its lines; costs that the bill does not have are 0.",
  },
);

const DeliveryFinding = Type.Object(
  {
    id: textSchema("Id of the finding.", "rounded_cost"),
    what: textSchema("The same as a sentence.", "a cost has more than 12 decimal places and was rounded"),
    lines: countSchema("Lines with this finding.", 3),
    examples: Type.Array(Type.String(), {
      description: "Up to five of them as `FILE:ROW`; row 1 is the first one behind the header.",
      examples: [["2026-05/part-00001.csv:17"]],
    }),
  },
  { title: "DeliveryFinding" },
);

const changedDays = (description: string, examples: string[][]) =>
  Type.Array(Type.String({ format: "date" }), { description, examples });

const DeliveryChange = Type.Object(
  {
    first_days: changedDays(
      "Days whose first published bill it was, or was a part of: everything on them is new, so they have no differences.",
      [["2026-05-31"]],
    ),
    changed_days: changedDays(
      "Days that were published before and that it changed. The other fields are about these days.",
      [["2026-05-01", "2026-05-02"]],
    ),
    lines_new: countSchema("Lines that were not there before.", 2),
    lines_changed: countSchema(
      "Lines with another amount, quantity or content than before, for the same time, resource, product, SKU and account.",
      5,
    ),
    lines_gone: countSchema("Lines that are no longer there.", 1),
    sums: Type.Unsafe<{ currency: string; amount: string }[] | null>({
      anyOf: [
        Type.Array(
          Type.Object({ currency, amount: decimalSchema("Costs after, less costs before.", "-12.5") }),
          { description: "By currency." },
        ),
        { type: "null" },
      ],
      description: "What all identities together pay more, by currency; null if it is unknown.",
      examples: [[{ currency: "USD", amount: "-12.5" }]],
    }),
    together_with: Type.Array(Type.Integer(), {
      description:
        "Ids of other new deliveries that were published in the same run for some of these days. The differences of these days are those of all of them together.",
      examples: [[]],
    }),
    has_other_causes: Type.Boolean({
      description:
        "Rules, usage or assignments of some of these days changed in the same run, so a part of the differences is theirs.",
      examples: [false],
    }),
  },
  {
    title: "DeliveryChange",
    description:
      "What it changed, as of the run that published its days, whatever changed them later. Lists without days: no day was published with it, or none changed. " +
      "Kept until all of its days are older than `retention_days`. Changes by releases that did not record them are left out.",
  },
);

export const deliveryPayerSchema = Type.Object(
  {
    identity_id: textSchema("Id of the identity.", "sa-12345"),
    identity_name: nullableText({
      description: "Its name; null when none is known.",
      examples: ["Payments"],
    }),
    team: nullableText({ description: "Its team; null when it has none.", examples: ["payments"] }),
    currency,
    amount: decimalSchema("What it pays after, less what it paid before.", "-1.25"),
  },
  { title: "DeliveryPayer", description: "An identity that pays more or less than before a delivery." },
);

export const deliverySchema = Type.Object(
  {
    delivery_id: countSchema("Id of the delivery.", 12),
    source: textSchema("Name of the source in the configuration.", "aws"),
    billing_period: nullableText({
      description: "Month of the bill; null where only its lines say.",
      examples: ["2026-05"],
    }),
    kind: choiceSchema(["snapshot", "additive"], {
      description:
        "`snapshot`: the whole bill of the period, which replaces the previous one. `additive`: an addition to the bill of the period.",
      examples: ["snapshot"],
    }),
    state: choiceSchema(deliveryStates, {
      description:
        "`current`: its lines count. `waiting_for_acceptance`: it is too much smaller than the bill that it would replace, or shares charges with another bill, " +
        "and waits until a person or a setting decides. " +
        "`refused`: it cannot be read. `replaced`: a newer one counts. `loading`: not loaded completely. `expired`: all of its days are older than " +
        "`retention_days`, so its lines were dropped; it is read again once `retention_days` reaches back to it. " +
        "`no_bill`: none of its files is a bill. `superseded`: all of its charges count in other deliveries.",
      examples: ["current"],
    }),
    problem: nullableText({
      description:
        "Why it waits, is refused, has expired, is superseded or is not a bill, as a sentence; otherwise null.",
      examples: [null],
    }),
    files: Type.Array(DeliveryFile, { description: "Its first 100 files." }),
    file_count: countSchema("Number of its files.", 1),
    duplicates: Type.Array(DuplicateFile, {
      description:
        "Its first 100 files that are not loaded, because another file with the same bytes counts.",
      examples: [[]],
    }),
    overlaps: Type.Array(DeliveryOverlap, {
      description:
        "First 100 bills that share charges with it, as of the time when it was loaded. The list does not show what `precedence`, `exclude`, `overlap` or a " +
        "person decided about them: `state` and `problem` show the result.",
      examples: [[]],
    }),
    lines: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      minimum: 0,
      description: "Number of its lines; null before it is loaded.",
      examples: [1200],
    }),
    sums: Type.Array(DeliverySums, { description: "Sums by currency." }),
    classes: Type.Array(Type.Object({ currency, ...classSums }), {
      description:
        "What happened to its lines, each in exactly one class; empty before a run has counted them.",
    }),
    change: DeliveryChange,
    findings: Type.Array(DeliveryFinding, { description: "Anomalies of its lines." }),
    remarks: Type.Array(Type.String(), {
      description: "Anomalies of its files, as sentences.",
      examples: [[]],
    }),
    first_day: optionalDay("UTC day on which its first charge begins; null when it has none."),
    last_day: optionalDay("Last UTC day of its charges; null if it has none."),
    started_at: instantSchema("When loading began."),
    loaded_at: optionalInstant("When it was loaded completely; null when it was not."),
    accepted_at: optionalInstant("When a user accepted it; null if none has."),
    replaced_at: optionalInstant("When another delivery replaced it; null if none has."),
    expired_at: optionalInstant(
      "When its lines were dropped because it was older than `retention_days`; null when they were not.",
    ),
  },
  { title: "Delivery", description: "A bill that was delivered." },
);
