/** Tenants and the state of their days. */
import { Type } from "@sinclair/typebox";
import { choice, count, day, nullableText, text } from "./fields.js";

export const TenantSummary = Type.Object(
  {
    tenant_name: text("Name in the configuration and in the paths of this API.", "acme"),
    tenant_id: text("Billing boundary in rows.", "org-4711"),
    ecosystem: text("Kind of upstream.", "confluent_cloud"),
    dates_pending: count("Dates with gathered costs that are not calculated yet.", 2),
    dates_calculated: count("Dates with published chargebacks.", 195),
    last_calculated_date: nullableText({
      description: "Newest calculated date; null when there is none.",
      format: "date",
      examples: ["2026-01-31"],
    }),
    topic_attribution: choice(["enabled", "disabled"], {
      description:
        "Whether costs of Kafka clusters are attributed to topics; `disabled` for ecosystems that know none.",
      examples: ["disabled"],
    }),
  },
  { title: "TenantSummary" },
);

export const TrackingDate = Type.Object(
  {
    tracking_date: day("UTC day."),
    billing_gathered: Type.Boolean({ description: "The bill of the day is there." }),
    resources_gathered: Type.Boolean({ description: "Resources and identities of the day are there." }),
    chargeback_calculated: Type.Boolean({ description: "Chargebacks of the day are published." }),
  },
  { title: "TrackingDate" },
);
