/** A tenant with a moving clock, and a model of its runs. The model counts days in whole numbers since 1970. */
import { strict as assert } from "node:assert";
import type { Config } from "../../src/config/config.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { clockedUpstream, LOOKBACK } from "./clocked-upstream.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

export const DAY = 86_400_000;
export const MINUTE = 60_000;
export const CUTOFF = 2;
const RETENTION = 12;

export const clockSettings = [`cutoff_days: ${CUTOFF}`, `retention_days: ${RETENTION}`];

const LAST_STORED = Date.UTC(2105, 11, 31) / DAY;

export const dayNumber = (at: number) => Math.floor(at / DAY);
export const dayText = (number: number) => new Date(number * DAY).toISOString().slice(0, 10);

/** Changes the clock after a run has read it, or after it has sent a request to its upstream. */
export interface Jolt {
  readonly at: "look" | "window";
  readonly to: number;
}

export type Outcome = "done" | "refused: pause" | "refused: ahead" | "refused: not stored";

export interface ClockReport {
  readonly outcome: Outcome;
  /** Days that the run published, and those of them that had been published before. */
  readonly published: readonly number[];
  readonly corrected: readonly number[];
  readonly dropped: readonly number[];
}

export interface ClockedTenant {
  /** Runs at this time, and compares the result with the model. */
  run(
    clock: number,
    options?: { readonly confirmed?: boolean; readonly jolt?: Jolt | undefined },
  ): Promise<ClockReport>;
  /** Returns the latest clock of all accepted runs. */
  latest(): number;
  /** Returns the rows of the window's days at this time. */
  rowsAt(clock: number): Promise<unknown>;
}

/** `truth` is the upstream's clock, which never goes back. Tenants of one history share it. */
export function clockedTenant(
  { config, stores }: { readonly config: Config; readonly stores: OpenedStores },
  name: string,
  truth: { at: number },
): ClockedTenant {
  /** Sums of the published days. */
  let model = new Map<number, string>();
  let latest = Number.NEGATIVE_INFINITY;

  async function storedSums(): Promise<Map<number, string>> {
    const rows = await runRows<{ day: number; billed: string; charged: string }>(
      stores,
      name,
      `SELECT toUInt16(day) AS day, toString(sum(bill)) AS billed, toString(sum(charge)) AS charged FROM (
         SELECT day, total_cost AS bill, CAST(0 AS Decimal(38, 12)) AS charge FROM billing
         UNION ALL SELECT day, CAST(0 AS Decimal(38, 12)), amount FROM chargebacks) GROUP BY day ORDER BY day`,
    );
    for (const { day, billed, charged } of rows) assert.equal(charged, billed, dayText(day));
    return new Map(rows.map(({ day, billed }) => [day, billed]));
  }

  function refusalOf(clock: number, confirmed: boolean): Outcome {
    const today = dayNumber(clock);
    if (today - LOOKBACK < 0 || today - CUTOFF - 1 > LAST_STORED) return "refused: not stored";
    if (confirmed) return "done";
    if (clock - Date.now() > DAY) return "refused: ahead";
    return latest !== Number.NEGATIVE_INFINITY && clock - latest > 30 * DAY ? "refused: pause" : "done";
  }

  return {
    latest: () => latest,
    async run(clock, { confirmed = false, jolt } = {}) {
      let shown = clock;
      const upstream = clockedUpstream(
        () => dayText(dayNumber(truth.at)),
        () => {
          if (jolt?.at === "window") shown = jolt.to;
        },
      );
      const now = () => {
        const at = new Date(shown);
        if (jolt?.at === "look") shown = jolt.to;
        return at;
      };
      const outcome = refusalOf(clock, confirmed);
      if (outcome === "done") truth.at = Math.max(truth.at, clock);
      const { ecosystems } = upstream;
      const result = await runOnce(runContext(stores, { now, ecosystems }), config, name, {
        forceGather: confirmed,
      });
      if (outcome !== "done") {
        assert.deepEqual([result.status, result.dates_gathered, [...upstream.responses]], ["failed", 0, []]);
        const [error] = result.errors.map(({ message }) => message);
        assert.ok(error !== undefined && messages[outcome].test(error), error);
        assert.deepEqual(await storedSums(), model, "nothing has changed");
        return { outcome, published: [], corrected: [], dropped: [] };
      }
      assert.deepEqual([result.status, result.errors], ["completed", []]);
      latest = Math.max(latest, clock);
      const today = dayNumber(clock);
      const window = Array.from({ length: LOOKBACK - CUTOFF }, (_, at) => today - LOOKBACK + at);
      assert.deepEqual(
        [...upstream.responses.keys()].sort(),
        window.map(dayText).sort(),
        "days that were gathered",
      );
      const before = model;
      const known = window.flatMap((day) => {
        const sum = upstream.responses.get(dayText(day));
        return sum === undefined ? [] : [[day, sum] as const];
      });
      model = new Map([...before, ...known]);
      const dropped = [...model.keys()].filter((day) => day < today - RETENTION);
      for (const day of dropped) model.delete(day);
      const published = known.filter(([day, sum]) => before.get(day) !== sum).map(([day]) => day);
      assert.equal(result.dates_calculated, published.length, "days that were calculated");
      assert.deepEqual(
        new Map([...(await storedSums())].sort()),
        new Map([...model].sort()),
        "what is published",
      );
      const { off, staged } = await reconciled(stores, name);
      assert.deepEqual({ off, staged }, { off: [], staged: 0 });
      const tracked = await stores.postgres.query<{ day: string }>(
        "SELECT tracking_date AS day FROM tracking_dates WHERE tenant_name = $1 AND (tracking_date < $2 OR tracking_date >= $3)",
        [name, dayText(today - RETENTION), dayText(dayNumber(latest) - CUTOFF)],
      );
      assert.deepEqual(
        tracked.rows,
        [],
        "nothing is known of days before the retention and after the cutoff",
      );
      return { outcome, published, dropped, corrected: published.filter((day) => before.has(day)) };
    },
    async rowsAt(clock) {
      const today = dayNumber(clock);
      const days = `day >= '${dayText(today - LOOKBACK)}' AND day < '${dayText(today - CUTOFF)}'`;
      const rows = async (table: string) =>
        await runRows(
          stores,
          name,
          `SELECT * EXCEPT (revision) REPLACE ('' AS tenant_id) FROM ${table} WHERE ${days} ORDER BY ALL`,
        );
      return { billing: await rows("billing"), chargebacks: await rows("chargebacks") };
    },
  };
}

const messages: Readonly<Record<Exclude<Outcome, "done">, RegExp>> = {
  "refused: pause":
    /^the clock says \S+, and the last run was \d+ days before: nothing was gathered or dropped\./,
  "refused: ahead":
    /^the clock says \S+, and the clock of Postgres says \S+: nothing was gathered or dropped\./,
  "refused: not stored":
    /^the days to gather are \S+ to \S+, and the stores hold those from 1970-01-01 to 2105-12-31: nothing was gathered or dropped\./,
};
