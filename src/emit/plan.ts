/** What an emitter has to do now: a pure function of the published days, of what was emitted, and of its settings. */
import { createHash } from "node:crypto";
import { firstOfMonth, lastOfMonth } from "../time/days.js";
import type { EmissionRecord } from "./sql/emission-records.js";
import type { EmittableDay } from "./sql/emittable-days.js";

export interface PlanInput {
  readonly span: "day" | "month";
  /** Everything but the days that a file's bytes and place depend on. */
  readonly settings: unknown;
  /** Ascending. */
  readonly days: readonly EmittableDay[];
  readonly records: readonly EmissionRecord[];
  /** First day that is kept. */
  readonly keepFrom: string;
  /** First day that the emitter looks at. */
  readonly from: string;
  /** Provisional days from this one on are waited for: nobody asks for what the earlier ones lack any more. Undefined: for none. */
  readonly waitFrom: string | undefined;
}

export interface PlannedFile {
  /** The day, or the first of the month. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly contentHash: string;
  /** Some of its days lack something. */
  readonly provisional: boolean;
  /** What was written before, where it was. */
  readonly before: EmissionRecord | undefined;
}

export interface EmissionPlan {
  /** Files to be written, oldest first. */
  readonly write: readonly PlannedFile[];
  /** Files to be removed: their days are no longer kept, or the emitter writes files of another span now. */
  readonly remove: readonly EmissionRecord[];
}

/** Raised when files of the same rows and settings get other bytes. */
const FORM = 2;

export function planEmission(input: PlanInput): EmissionPlan {
  const { span, records, keepFrom, from, waitFrom } = input;
  const known = new Map(
    records.filter((record) => record.span === span).map((record) => [record.first_day, record]),
  );
  const write = [...periods(input)].flatMap(([firstDay, days]): PlannedFile[] => {
    const before = known.get(firstDay);
    const lastDay = lastDayOf(span, firstDay);
    if (lastDay < from || lastDay < keepFrom) return [];
    // A file is the better for it to stay as it is.
    if (days.some(({ is_lost }) => is_lost)) return [];
    const provisional = days.filter(({ is_provisional }) => is_provisional);
    if (waitFrom !== undefined && provisional.some(({ day }) => day >= waitFrom)) return [];
    const written = before !== undefined && before.content_hash !== null;
    // What never had rows has no file; what had, and has none now, becomes a header.
    if (!written && days.every(({ rows }) => rows === 0)) return [];
    // A month that begins to leave the retention stays as it was, rather than to shrink day by day.
    if (written && firstDay < keepFrom) return [];
    const contentHash = hashOf([FORM, input.settings, span, days.map(({ day, version }) => [day, version])]);
    if (before?.status === "emitted" && before.content_hash === contentHash) return [];
    return [{ firstDay, lastDay, contentHash, before, provisional: provisional.length > 0 }];
  });
  const remove = records.filter(
    (record) => record.span !== span || lastDayOf(record.span, record.first_day) < keepFrom,
  );
  return { write, remove };
}

function periods({ span, days }: PlanInput): Map<string, EmittableDay[]> {
  const found = new Map<string, EmittableDay[]>();
  for (const day of days) {
    const firstDay = span === "day" ? day.day : firstOfMonth(day.day);
    const others = found.get(firstDay);
    if (others === undefined) found.set(firstDay, [day]);
    else others.push(day);
  }
  return found;
}

export function lastDayOf(span: "day" | "month", firstDay: string): string {
  return span === "day" ? firstDay : lastOfMonth(firstDay);
}

function hashOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}
