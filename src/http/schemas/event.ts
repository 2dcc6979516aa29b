/** Events on the time line of costs. */
import { Type } from "@sinclair/typebox";
import { eventKinds } from "../../query/state/events.js";
import { choiceSchema, daySchema, nullableText } from "./fields.js";

export const costEventSchema = Type.Object(
  {
    kind: choiceSchema(eventKinds, {
      description:
        "`rules_changed`: costs from this day on are allocated by other rules than those of the day with costs before it. " +
        "`bill_replaced`: the bill was delivered again, which changed lines of these days. A delivery that no run has published yet, or that changed nothing, is no event.",
      examples: ["bill_replaced"],
    }),
    day: daySchema("First day of the period that it changed."),
    last_day: nullableText({
      description: "Last day of the period that newer deliveries of the bill changed; null for rules.",
      format: "date",
      examples: ["2026-01-31"],
    }),
    source: nullableText({
      description: "Source of the bill, as the configuration names it; null for rules.",
      examples: ["aws"],
    }),
    billing_period: nullableText({
      description: "Month of the bill; null for rules, and if only the lines have it.",
      examples: ["2026-01"],
    }),
    delivery_count: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "How often the bill was delivered; null for rules.",
      minimum: 2,
      examples: [2],
    }),
    at: nullableText({
      description:
        "When the newest delivery was loaded, or accepted if it had to be; null for rules. UTC, with a fraction of the second only if it is not 0.",
      format: "date-time",
      examples: ["2026-02-03T04:00:00Z"],
    }),
  },
  { title: "CostEvent" },
);
