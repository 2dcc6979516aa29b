/**
 * Records the result of gathering a window, and checks whether a window is still published as it was gathered. If it
 * is, and the upstream's responses are the same, it need not be gathered again.
 */
import type { Pool } from "pg";
import type { DayRange } from "../../common/days.js";
import { digestOf } from "../../common/digest.js";
import { packageVersion } from "../../common/project.js";
import { runStatement } from "../../postgres/statement.js";
import type { GatheredResponses } from "../ecosystem.js";
import { type DayContent, EMPTY_DAY_HASH } from "./content-hash.js";

/**
 * Increment if the same responses are processed differently. Then all windows are gathered again, as with another
 * version of the service.
 */
const VERSION = 5;

export interface StoredWindow {
  readonly tenantName: string;
  readonly window: DayRange;
  /** Hash of everything besides the responses that decides what is made of them, except the ecosystem's code. */
  readonly settingsHash: string;
  /** First day that is attributed to topics. Undefined if none is. */
  readonly topicsFrom: string | undefined;
}

export interface WindowOutcome {
  readonly billingLines: number;
  readonly usageFacts: number;
  /** Records that were not taken, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** If the inventory was incomplete: the types that were complete nevertheless. Left out if nothing was missing. */
  readonly completeTypes?: readonly string[];
}

export interface RecordedWindow {
  readonly responses: GatheredResponses;
  readonly outcome: WindowOutcome;
  /** Days of the window that have a state, ascending. */
  readonly days: readonly string[];
}

/** `settings`: JSON of the caller. */
export function settingsHash(settings: unknown): string {
  return digestOf([VERSION, packageVersion(), settings]);
}

/**
 * $1 tenant, $2 first day, $3 day after the last, $4 hash of a day without lines, $5 settings, $6 first day with
 * topics.
 */
const AS_PUBLISHED = `
  WITH days AS (
    SELECT tracking_date AS day, published_hash AS hash, staged_hash IS NOT NULL OR publishing_hash IS NOT NULL AS waits
    FROM tracking_dates WHERE tenant_name = $1 AND tracking_date >= $2 AND tracking_date < $3
  ), topic_days AS (
    SELECT tracking_date AS day, published_hash AS hash, staged_hash IS NOT NULL OR publishing_hash IS NOT NULL AS waits
    FROM topic_attribution_dates
    WHERE tenant_name = $1 AND tracking_date >= greatest($2::date, $6::date) AND tracking_date < $3 AND $6 IS NOT NULL
  )
  SELECT responses, outcome,
         ARRAY(SELECT to_char(day, 'YYYY-MM-DD') FROM days ORDER BY day) AS days
  FROM gathered_windows
  WHERE tenant_name = $1 AND window_start = $2 AND window_end = $3 AND settings_hash = $5
    AND NOT EXISTS (SELECT 1 FROM days WHERE waits)
    AND NOT EXISTS (SELECT 1 FROM topic_days WHERE waits)
    AND day_hashes = (
      SELECT coalesce(jsonb_object_agg(to_char(day, 'YYYY-MM-DD'), hash), '{}') FROM days WHERE hash IS DISTINCT FROM $4
    )
    AND topic_day_hashes = (
      SELECT coalesce(jsonb_object_agg(to_char(day, 'YYYY-MM-DD'), hash), '{}') FROM topic_days WHERE hash <> $4
    )`;

/** Undefined unless exactly what was gathered of the window is published. */
export async function publishedAsGathered(
  postgres: Pool,
  { tenantName, window, settingsHash: hash, topicsFrom }: StoredWindow,
): Promise<RecordedWindow | undefined> {
  const { rows } = await runStatement<RecordedWindow>(postgres, {
    query: AS_PUBLISHED,
    params: [tenantName, window.start, window.end, EMPTY_DAY_HASH, hash, topicsFrom ?? null],
  });
  return rows[0];
}

/** $1 tenant, $2 first day, $3 day after the last. Overlapping windows are outdated, too. */
const FORGET = `DELETE FROM gathered_windows WHERE tenant_name = $1 AND window_start < $3 AND window_end > $2`;

const RECORD_WINDOW = `
  WITH forgotten AS (
    DELETE FROM gathered_windows WHERE tenant_name = $1 AND window_start < $3 AND window_end > $2 AND window_start <> $2
  )
  INSERT INTO gathered_windows
    (tenant_name, window_start, window_end, settings_hash, day_hashes, topic_day_hashes, responses, outcome)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (tenant_name, window_start) DO UPDATE SET
    window_end = excluded.window_end,
    settings_hash = excluded.settings_hash,
    day_hashes = excluded.day_hashes,
    topic_day_hashes = excluded.topic_day_hashes,
    responses = excluded.responses,
    outcome = excluded.outcome`;

/** Replaces the record of the window, or deletes it if `gathered` is undefined. */
export async function recordWindow(
  postgres: Pool,
  { tenantName, window, settingsHash: hash }: StoredWindow,
  gathered:
    | {
        readonly responses: GatheredResponses;
        readonly outcome: WindowOutcome;
        readonly contents: readonly DayContent[];
        readonly topicContents: readonly DayContent[];
      }
    | undefined,
): Promise<void> {
  const key = [tenantName, window.start, window.end];
  if (gathered === undefined) return void (await runStatement(postgres, { query: FORGET, params: key }));
  const { responses, outcome, contents, topicContents } = gathered;
  const json = [hashesOf(contents), hashesOf(topicContents), responses, outcome].map((value) =>
    JSON.stringify(value),
  );
  await runStatement(postgres, { query: RECORD_WINDOW, params: [...key, hash, ...json] });
}

/** Hashes of the days with lines. */
function hashesOf(contents: readonly DayContent[]): Record<string, string> {
  const billed = contents.filter(({ hash }) => hash !== EMPTY_DAY_HASH);
  return Object.fromEntries(billed.map(({ day, hash }) => [day, hash]));
}
