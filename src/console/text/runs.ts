/** Texts of the runs view. */
import { counted } from "../../common/plural.js";

export const runsTexts = {
  title: "Runs",
  days: "Days",
  runs: "Runs",
  now: "Run now",
  started: "Started",
  trigger: "Trigger",
  status: "Status",
  took: "Took",
  gathered: "Days gathered",
  calculated: "Days calculated",
  errors: "Errors and notes",
  errorCount: (count: number) => counted(count, "error", "errors"),
  noteCount: (count: number) => counted(count, "note", "notes"),
  running: (status: string) => (status === "queued" ? "Queued" : "Running"),
  progress: "The run in progress",
  stages: {
    gathering: "Gather",
    calculating: "Calculate",
    publishing: "Publish",
    emitting: "Emit",
  },
  done: (calculated: number, pending: number, rows: number) =>
    pending === 0
      ? "No days to calculate so far."
      : `${calculated.toLocaleString("en")} of ${pending.toLocaleString("en")} days published, ${rows.toLocaleString("en")} rows.`,
  currentDay: (day: string) => `Now: ${day}`,
  states: {
    published: "published",
    provisional: "provisional: published, its data is still incomplete",
    outdated: "outdated: the bill has changed since",
    pending: "pending: not calculated yet",
    no_bill: "nothing was billed",
    failed: "failed: its bill could not be gathered",
    lost: "lost by the store: it will be recalculated",
    unknown: "not gathered",
  },
} as const;
