/** Tenants and the state of their days. */
import { Type } from "@sinclair/typebox";
import { dayStates } from "../../query/state/tenant-status.js";
import { choiceSchema, countSchema, daySchema, nullableText, textSchema } from "./fields.js";

export const tenantSummarySchema = Type.Object(
  {
    tenant_name: textSchema("Name in the configuration and in the paths of this API.", "acme"),
    tenant_id: textSchema("Billing boundary in rows.", "org-4711"),
    ecosystem: textSchema("Kind of upstream.", "confluent_cloud"),
    dates_pending: countSchema("Dates with gathered costs that are not calculated yet.", 2),
    dates_calculated: countSchema("Dates with published chargebacks.", 195),
    dates_provisional: countSchema("Those of them whose data is still incomplete.", 0),
    last_calculated_date: nullableText({
      description: "Newest calculated date; null when there is none.",
      format: "date",
      examples: ["2026-01-31"],
    }),
    topic_attribution: choiceSchema(["enabled", "disabled"], {
      description:
        "Whether costs of Kafka clusters are attributed to topics; `disabled` for ecosystems without topics.",
      examples: ["disabled"],
    }),
  },
  { title: "TenantSummary" },
);

export const trackingDateSchema = Type.Object(
  {
    tracking_date: daySchema("UTC day."),
    billing_gathered: Type.Boolean({ description: "The bill of the day was gathered." }),
    resources_gathered: Type.Boolean({ description: "Resources and identities were gathered completely." }),
    chargeback_calculated: Type.Boolean({ description: "Chargebacks of the day are published." }),
    state: choiceSchema(dayStates, {
      description:
        "`published`: up to date. `outdated`: published, and a changed bill waits to be calculated. `pending`: its bill waits to be calculated. " +
        "`no_bill`: gathered, and nothing was billed. `failed`: its bill could not be gathered. `lost`: the store has lost it, and it is not " +
        "recalculated yet.",
      examples: ["published"],
    }),
    error: nullableText({
      description: "Error of the day's last attempt; null when it succeeded.",
      examples: [null],
    }),
    last_success: nullableText({
      description: "When the day's chargebacks were last published; null when they are not. UTC.",
      format: "date-time",
      examples: ["2026-01-07T04:00:00.000000Z"],
    }),
    provisional: Type.Boolean({
      description:
        "The data of the day is still incomplete: it is gathered again in each run, until it is complete or the attempts are used up.",
      examples: [false],
    }),
    lacks: Type.Array(Type.String(), {
      description:
        "Data that was missing when the day was last gathered, one sentence for each cause. Empty if nothing is missing.",
      examples: [
        ["bytes_in of lkc-1a2b3c could not be fetched: prometheus:9090/api/v1/query_range: returned 422"],
      ],
    }),
  },
  { title: "TrackingDate" },
);
