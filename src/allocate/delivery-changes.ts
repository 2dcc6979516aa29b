/**
 * Finds what new deliveries change about days that are already published. The differences are read before the days are
 * published, and recorded with the intent to do so: afterwards, the earlier rows are gone.
 */
import { readRows, readTuples } from "../clickhouse/statement.js";
import type { Publication } from "./allocation-job.js";
import {
  type ChangedLines,
  changedLines,
  changedPayers,
  type DeliveryChange,
  daysWithOtherChanges,
} from "./sql/delivery-changes.js";

/** Ids of the deliveries that the staged bill of a day has and the published one does not have, by day. */
export type NewDeliveries = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the changes of published days whose bill has new deliveries, together for days with the same new deliveries.
 * A day whose lines stay the same is left out if something else explains why it is calculated again. Without such days,
 * nothing is read.
 */
export async function deliveryChanges(
  { client, epoch, signal }: Pick<Publication, "client" | "epoch" | "signal">,
  days: readonly string[],
  newDeliveries: NewDeliveries,
): Promise<DeliveryChange[]> {
  const concerned = days.filter((day) => (newDeliveries.get(day) ?? []).length > 0);
  if (concerned.length === 0) return [];
  const staged = { epoch, days: concerned };
  const lines = await readRows<ChangedLines>(client, changedLines(staged), signal);
  const others = await readRows<{ day: string }>(client, daysWithOtherChanges(staged), signal);
  const linesOf = new Map(lines.map((each) => [each.day, each]));
  const isMixed = (day: string) =>
    linesOf.get(day)?.reassigned === 1 || others.some((other) => other.day === day);
  const hasOtherLines = (day: string) => {
    const { lines_new = 0, lines_changed = 0, lines_gone = 0 } = linesOf.get(day) ?? {};
    return lines_new + lines_changed + lines_gone > 0;
  };
  const groups = new Map<string, Pick<DeliveryChange, "deliveries" | "is_mixed"> & { days: string[] }>();
  for (const day of concerned.filter((each) => hasOtherLines(each) || !isMixed(each))) {
    const group = { deliveries: newDeliveries.get(day) ?? [], is_mixed: isMixed(day), days: [] };
    const key = JSON.stringify(group);
    groups.set(key, groups.get(key) ?? group);
    groups.get(key)?.days.push(day);
  }
  const changes: DeliveryChange[] = [];
  for (const group of groups.values()) {
    const [[payers = "[]"] = []] = await readTuples<[string]>(
      client,
      changedPayers({ epoch, days: group.days }),
      signal,
    );
    const sum = (count: "lines_new" | "lines_changed" | "lines_gone") =>
      group.days.reduce((total, day) => total + (linesOf.get(day)?.[count] ?? 0), 0);
    changes.push({
      ...group,
      lines_new: sum("lines_new"),
      lines_changed: sum("lines_changed"),
      lines_gone: sum("lines_gone"),
      payers,
    });
  }
  return changes;
}
