/** Pipeline runs. */
import { Type } from "@sinclair/typebox";
import { pipelineStages, runStatuses } from "../../query/state/pipeline.js";
import { runTriggers } from "../../query/state/pipeline-runs.js";
import {
  choiceSchema,
  countSchema,
  instantSchema,
  nullableChoice,
  nullableText,
  textSchema,
} from "./fields.js";

export const runAcceptedSchema = Type.Object(
  {
    tenant_name: textSchema("The tenant that runs.", "acme"),
    status: choiceSchema(["started", "queued"], {
      description: "`queued`: the run waits until fewer than `features.max_parallel_tenants` tenants run.",
      examples: ["started"],
    }),
    run_id: Type.String({
      format: "uuid",
      description: "Id of the run's record.",
      examples: ["0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10"],
    }),
    message: textSchema("The same as a sentence.", "A pipeline run of tenant acme has started."),
  },
  { title: "RunAccepted", description: "The run has started or is queued." },
);

const notes = Type.Array(Type.String(), {
  description:
    "Remarks that are not errors, such as why nothing was gathered, or which days the store had lost.",
  examples: [["not gathered: the last gathering began 300 seconds ago, and min_refresh_gap_seconds is 1800"]],
});

const RunResult = Type.Object(
  {
    status: choiceSchema(["completed", "completed_with_errors", "failed"], {
      description: "The same as in the history of runs.",
      examples: ["completed"],
    }),
    dates_gathered: countSchema("Days whose costs were gathered.", 195),
    dates_calculated: countSchema("Days whose chargebacks were calculated.", 2),
    chargeback_rows_written: countSchema("Chargeback rows written.", 3560),
    errors: Type.Array(Type.String(), {
      description: "One entry for each day or source that failed, starting with its date or name.",
      examples: [["2026-01-03: the sums of chargebacks and billing differ"]],
    }),
    notes,
    completed_at: instantSchema("End of the run."),
  },
  { title: "RunResult" },
);

export const pipelineStatusSchema = Type.Object(
  {
    tenant_name: textSchema("The tenant.", "acme"),
    is_running: Type.Boolean({ description: "A run is in progress or queued, in any process." }),
    state: choiceSchema(["idle", "queued", "running"], {
      description: "`queued`: the run waits until fewer than `features.max_parallel_tenants` tenants run.",
      examples: ["idle"],
    }),
    last_run: nullableText({
      description: "End of the newest run, or its start while it runs; null before the first. UTC.",
      format: "date-time",
      examples: ["2026-01-01T04:00:00Z"],
    }),
    last_success: nullableText({
      description: "End of the newest run in which at least one day succeeded; null before the first. UTC.",
      format: "date-time",
      examples: ["2026-01-01T04:00:00Z"],
    }),
    last_result: Type.Unsafe<import("@sinclair/typebox").Static<typeof RunResult> | null>({
      description:
        "Result of the newest finished run, also while another one is in progress; null before the first.",
      anyOf: [RunResult, { type: "null" }],
    }),
  },
  { title: "PipelineStatus", description: "State of the pipeline." },
);

const RunFault = Type.Object(
  {
    date: nullableText({
      description: "UTC day it concerns; null when it concerns none.",
      format: "date",
      examples: ["2026-01-03"],
    }),
    source: nullableText({
      description:
        "Part of the run it concerns: `gather`, `calculate`, `emit` or `run`; null when that is not known.",
      examples: ["calculate"],
    }),
    message: textSchema("What failed.", "the sums of chargebacks and billing differ"),
  },
  { title: "RunFault" },
);

export const pipelineRunSchema = Type.Object(
  {
    run_id: Type.String({
      format: "uuid",
      description: "Id of the run.",
      examples: ["0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10"],
    }),
    tenant_name: textSchema("The tenant.", "acme"),
    trigger: choiceSchema(runTriggers, {
      description: "What started it: the schedule, this API, or a command.",
      examples: ["schedule"],
    }),
    status: choiceSchema(runStatuses, {
      description:
        "`queued`: it waits for a free slot. `completed_with_errors`: some date or source failed, others did not. `failed`: it ended early, " +
        "no date succeeded, or its process died. What was published stays.",
      examples: ["completed"],
    }),
    stage: nullableChoice(pipelineStages, {
      description: "Current stage of the run; null when it has ended.",
      examples: [null],
    }),
    stage_date: nullableText({
      description: "Day that the run is working on; null when there is none.",
      format: "date",
      examples: [null],
    }),
    started_at: instantSchema("Start of the run."),
    ended_at: nullableText({
      description: "End of the run; null while it runs. UTC.",
      format: "date-time",
      examples: ["2026-01-01T00:04:00Z"],
    }),
    dates_gathered: countSchema("Days whose costs were gathered.", 195),
    dates_pending: countSchema("Days that were to be calculated.", 2),
    dates_calculated: countSchema("Days whose chargebacks were calculated.", 2),
    chargeback_rows_written: countSchema("Chargeback rows written.", 3560),
    errors: Type.Array(RunFault, { description: "One entry for each day or source that failed." }),
    notes,
  },
  { title: "PipelineRun", description: "A run of the pipeline." },
);
