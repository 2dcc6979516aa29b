/** Liveness and readiness. */
import { Type } from "@sinclair/typebox";
import { pipelineStages, runStatuses } from "../../query/state/pipeline.js";
import { storeStates } from "../store-drift.js";
import { choiceSchema, countSchema, nullableChoice, nullableText, textSchema } from "./fields.js";

export const serviceModes = ["api", "worker", "both"] as const;
export type ServiceMode = (typeof serviceModes)[number];

const version = textSchema("Version of the service; `0.0.0-dev` when run from source.", "0.1.0");

export const healthSchema = Type.Object(
  {
    status: Type.Literal("ok", { description: "Always `ok` while the process runs." }),
    version,
  },
  { title: "Health", description: "The process runs." },
);

const TenantReadiness = Type.Object(
  {
    tenant_name: textSchema("The tenant.", "acme"),
    tables_ready: Type.Boolean({ description: "The tenant's store responds and has its tables." }),
    store_state: nullableChoice(storeStates, {
      description:
        "`known`: the store that Postgres has recorded. `lost`: an empty store instead of it; the next run fills it. `other`: a different store, such " +
        "as that of another host; the tenant is not served. Null if the store does not respond.",
    }),
    has_data: Type.Boolean({ description: "At least one day has chargeback rows." }),
    days_lost: countSchema("Published days that the store has lost; the next run calculates them again.", 0),
    pipeline_running: Type.Boolean({ description: "A run is in progress, in any process." }),
    pipeline_stage: nullableChoice(pipelineStages, {
      description: "Stage of the run; null when none is in progress.",
    }),
    pipeline_current_date: nullableText({
      description: "Day that the run is working on; null when there is none.",
      format: "date",
      examples: ["2026-01-01"],
    }),
    last_run_status: nullableChoice(runStatuses, {
      description:
        "Status of the newest run. `completed_with_errors`: some date or source failed, and others did not. A run whose process died is " +
        "`failed`. Null before the first run.",
    }),
    last_run_at: nullableText({
      description: "End of the newest run, or its start while it runs; null before the first. UTC.",
      format: "date-time",
      examples: ["2026-01-01T04:00:00Z"],
    }),
    permanent_failure: nullableText({
      description: "Why the tenant is suspended until the service restarts; null when it is not suspended.",
      examples: [null],
    }),
  },
  { title: "TenantReadiness" },
);

const readinessStatuses = ["ready", "initializing", "no_data", "error"] as const;

export const readinessSchema = Type.Object(
  {
    status: choiceSchema(readinessStatuses, {
      description:
        "`initializing`: no tenant can be served yet. `error`: every tenant is permanently failed. `ready`: some tenant that can be served " +
        "has data. `no_data`: otherwise.",
      examples: ["ready"],
    }),
    version,
    mode: choiceSchema(serviceModes, {
      description: "What this process does: serve the API, run the pipeline, or both.",
      examples: ["both"],
    }),
    tenants: Type.Array(TenantReadiness, {
      description:
        "Tenants that the caller may see, in the order of the configuration. `status` covers all tenants.",
    }),
  },
  { title: "Readiness", description: "State of the service." },
);
