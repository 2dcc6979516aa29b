/** A tenant's page for Prometheus: rendered from the stores when it is asked for, in pieces, with nothing kept in memory. */
import { addAbortSignal, Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { PrometheusEmitter } from "../config/emitters.js";
import { readChargebackDates } from "./chargeback-days.js";
import { engineBytes } from "./engine-bytes.js";
import { readPostgres } from "./postgres-read.js";
import {
  amountFamilies,
  amountLines,
  entityFamilies,
  entityLines,
  familyHead,
  labelText,
  newestDayFamily,
} from "./tenant-metrics.js";
import { readAttributionDates } from "./topic-attribution-list.js";

export interface MetricsPage {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly tenantId: string;
  readonly ecosystem: string;
  readonly emitter: PrometheusEmitter;
  /** Older days are left out. */
  readonly since: string | undefined;
  /** OpenMetrics ends with a mark. */
  readonly openMetrics: boolean;
}

const ENTITIES_AT_ONCE = 5000;

type AmountPipeline = keyof typeof amountFamilies;

/** Answers when it is known which days are shown, so that a store that is away is still an ordinary error. */
export async function openMetricsPage(page: MetricsPage, signal: AbortSignal): Promise<Readable> {
  const days = await shownDays(page, signal);
  return addAbortSignal(
    signal,
    Readable.from(textOf(page, days, signal), { objectMode: false, highWaterMark: 1 << 17 }),
  );
}

type ShownDays = ReadonlyMap<AmountPipeline, readonly string[]>;

/** The latest days that have rows. Bills and chargebacks have the same ones; attributions to topics may be behind. */
async function shownDays(
  { client, emitter, since = "" }: MetricsPage,
  signal: AbortSignal,
): Promise<ShownDays> {
  const { pipelines, params } = emitter;
  const latest = (days: readonly string[]) => days.filter((day) => day >= since).slice(-params.days);
  const shown = new Map<AmountPipeline, readonly string[]>();
  const [chargeback, billing] = [pipelines.includes("chargeback"), pipelines.includes("billing")];
  const charged = chargeback || billing ? latest(await readChargebackDates(client, signal)) : [];
  if (chargeback) shown.set("chargeback", charged);
  if (billing) shown.set("billing", charged);
  if (pipelines.includes("topic_attribution"))
    shown.set("topic_attribution", latest(await readAttributionDates(client, signal)));
  return shown;
}

async function* textOf(
  page: MetricsPage,
  shown: ShownDays,
  signal: AbortSignal,
): AsyncGenerator<Buffer | string> {
  yield familyHead(newestDayFamily) + newestDays(page, shown);
  for (const [pipeline, days] of shown) {
    const family = amountFamilies[pipeline];
    yield familyHead(family);
    yield* await engineBytes(page.client, amountLines(family, days, page.emitter.params.days > 1), signal);
  }
  for (const pipeline of ["resource", "identity"] as const) {
    if (page.emitter.pipelines.includes(pipeline)) yield* entities(page, entityFamilies[pipeline], signal);
  }
  if (page.openMetrics) yield "# EOF\n";
}

function newestDays({ tenantId, ecosystem }: MetricsPage, shown: ShownDays): string {
  const lines = [...shown].flatMap(([pipeline, days]) => {
    const newest = days.at(-1);
    if (newest === undefined) return [];
    const labels = `tenant_id="${labelText(tenantId)}",ecosystem="${labelText(ecosystem)}",pipeline="${pipeline}"`;
    return [`${newestDayFamily.name}{${labels}} ${Date.parse(newest) / 1000}\n`];
  });
  return lines.join("");
}

async function* entities(
  { postgres, tenantName }: MetricsPage,
  family: (typeof entityFamilies)[keyof typeof entityFamilies],
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield familyHead(family);
  for (let after: string | null = ""; after !== null; ) {
    const read = entityLines(family, tenantName, after, ENTITIES_AT_ONCE);
    const [piece] = await readPostgres<{ lines: string; last: string | null }>(postgres, read, signal);
    if (piece?.lines) yield piece.lines;
    after = piece?.last ?? null;
  }
}
