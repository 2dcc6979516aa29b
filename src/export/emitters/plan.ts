/** Plans what an emitter has to do: a pure function of the published days, the emitted files and the settings. */
import { createHash } from "node:crypto";
import { firstOfMonth, lastOfMonth } from "../../common/days.js";
import type { EmissionRecord } from "./sql/emission-records.js";
import type { EmittableDay } from "./sql/emittable-days.js";

export interface PlanInput {
  readonly span: "day" | "month";
  /** Everything except the days that affects the bytes and the path of a file. */
  readonly settings: unknown;
  /** Ascending. */
  readonly days: readonly EmittableDay[];
  readonly records: readonly EmissionRecord[];
  /** First day within the retention. */
  readonly keepFrom: string;
  /** First day that the emitter considers. */
  readonly from: string;
  /**
   * From this day on, files wait until their days are final. Earlier days are not gathered again, so they stay
   * provisional. Undefined: no file waits.
   */
  readonly waitFrom: string | undefined;
}

export interface PlannedFile {
  /** The day, or the first of the month. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly contentHash: string;
  /** Whether some of its days are provisional. */
  readonly provisional: boolean;
  /** The record of the file, if there is one. */
  readonly before: EmissionRecord | undefined;
}

export interface EmissionPlan {
  /** Files to be written, oldest first. */
  readonly write: readonly PlannedFile[];
  /** Files to be removed: their days are no longer kept, or the emitter writes files of another span now. */
  readonly remove: readonly EmissionRecord[];
}

/** Increment this when the file format changes, so that all files are written again. */
const FORMAT_VERSION = 2;

export function planEmission(input: PlanInput): EmissionPlan {
  const { span, records, keepFrom, from, waitFrom } = input;
  const recordByDay = new Map(
    records.filter((record) => record.span === span).map((record) => [record.first_day, record]),
  );
  const write = [...periods(input)].flatMap(([firstDay, days]): PlannedFile[] => {
    const before = recordByDay.get(firstDay);
    const lastDay = lastDayOf(span, firstDay);
    if (lastDay < from || lastDay < keepFrom) return [];
    // Do not rewrite a file while some of its days are lost.
    if (days.some(({ is_lost }) => is_lost)) return [];
    const provisional = days.filter(({ is_provisional }) => is_provisional);
    if (waitFrom !== undefined && provisional.some(({ day }) => day >= waitFrom)) return [];
    const written = before !== undefined && before.content_hash !== null;
    // Days that never had rows get no file. If rows have disappeared, the file consists of only a header.
    if (!written && days.every(({ rows }) => rows === 0)) return [];
    // Do not rewrite a month that is partly out of retention. Otherwise, it would shrink day by day.
    if (written && firstDay < keepFrom) return [];
    const contentHash = hashOf([
      FORMAT_VERSION,
      input.settings,
      span,
      days.map(({ day, version }) => [day, version]),
    ]);
    if (before?.status === "emitted" && before.content_hash === contentHash) return [];
    return [{ firstDay, lastDay, contentHash, before, provisional: provisional.length > 0 }];
  });
  const remove = records.filter(
    (record) => record.span !== span || lastDayOf(record.span, record.first_day) < keepFrom,
  );
  return { write, remove };
}

function periods({ span, days }: PlanInput): Map<string, EmittableDay[]> {
  const periodDays = new Map<string, EmittableDay[]>();
  for (const day of days) {
    const firstDay = span === "day" ? day.day : firstOfMonth(day.day);
    const others = periodDays.get(firstDay);
    if (others === undefined) periodDays.set(firstDay, [day]);
    else others.push(day);
  }
  return periodDays;
}

export function lastDayOf(span: "day" | "month", firstDay: string): string {
  return span === "day" ? firstDay : lastOfMonth(firstDay);
}

function hashOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}
