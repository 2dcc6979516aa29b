/**
 * When a window is left alone, and when it is gathered although the upstream's responses are unchanged. On the real
 * stores.
 */
import t from "tap";
import type { StageWindowOptions } from "../../src/ingest/staged-window.js";
import { holds } from "../holds.js";
import { billing, DAYS, openStaging, type StagingScript, scripted, usage } from "./staging-script.js";

t.test("a window is gathered again only if it has changed", async (t) => {
  const { postgres, stage, rows, dates, publish } = await openStaging(t);
  const bill = billing.slice(0, 2);
  const [first = "", second = "", third = ""] = DAYS;

  /** Returns whether the window was gathered. The upstream's responses are unchanged by default. */
  async function gathered(
    {
      same = true,
      failures = 0,
      ...script
    }: StagingScript & { readonly same?: boolean; readonly failures?: number } = {},
    changes: Partial<StageWindowOptions> = {},
  ): Promise<boolean> {
    let requested = false;
    const upstream = scripted({ billing: bill, stagedUsage: usage, ...script });
    const gatherer: StageWindowOptions["gatherer"] = {
      ...upstream,
      async gatherWindow(...request) {
        requested = true;
        return { ...(await upstream.gatherWindow(...request)), responses: { of: "the upstream" }, failures };
      },
      async isUnchanged(_window, { ofWindow, ofTopics }) {
        t.same([ofWindow, ofTopics], [{ of: "the upstream" }, undefined]);
        return same;
      },
    };
    const outcome = await stage({}, { gatherer, ...changes });
    if (!requested) {
      holds(t, outcome, {
        staged: [],
        unchanged: [first, second],
        empty: [third],
        incomplete: [],
        errors: [],
      });
      holds(t, outcome, { billingLines: 2, usageFacts: 6, dropped: {} });
    }
    return requested;
  }

  await t.test("a window that waits is gathered, and left alone once it is published", async (t) => {
    t.equal(await gathered(), true);
    t.equal(await gathered(), true, "nothing of the window is published yet");
    await publish();
    const before = await dates();
    t.equal(await gathered(), false);
    t.same(await dates(), before);
    t.equal(await gathered({ same: false }), true);
    t.same(await rows("billing"), [], "the days had not changed");
    t.equal(await gathered(), false, "the window is left alone again");
  });

  await t.test("a window is gathered if something else decides what is made of it", async (t) => {
    await gathered();
    await publish();
    t.equal(await gathered(), false);
    const changes: Partial<StageWindowOptions>[] = [
      { force: true },
      { settingsDigest: "others" },
      { rulesHash: "others" },
      { decimalPlaces: 6 },
      { derivingMetrics: [] },
      { window: { start: first, end: third } },
    ];
    for (const change of changes) {
      t.equal(await gathered({}, change), true, Object.keys(change).join());
      await gathered({ same: false });
      await publish();
    }
    t.equal(await gathered(), false);
  });

  await t.test("a window is gathered if other data is published than was made of it", async (t) => {
    const spoilt = [
      `UPDATE tracking_dates SET published_hash = 'another' WHERE tracking_date = '${first}'`,
      `UPDATE tracking_dates SET publishing_hash = published_hash WHERE tracking_date = '${first}'`,
      `UPDATE tracking_dates SET staged_hash = published_hash WHERE tracking_date = '${second}'`,
      `DELETE FROM tracking_dates WHERE tracking_date = '${second}'`,
      `INSERT INTO tracking_dates (tenant_name, tracking_date, published_hash) VALUES ('acme', '${third}', 'more')`,
    ];
    for (const statement of spoilt) {
      await postgres.query("DELETE FROM tracking_dates");
      await gathered();
      await publish();
      t.equal(await gathered(), false);
      await postgres.query(statement);
      t.equal(await gathered(), true, statement);
    }
  });

  await t.test(
    "a window is left alone once it is final without a list that the upstream refuses",
    async (t) => {
      const refused = { inventoryLacks: ["connectors: 403, request 1"], completeTypes: ["resource:cluster"] };
      const again = { ...refused, inventoryLacks: ["connectors: 403, request 2"] };
      for (const attempt of [1, 2, 3]) {
        t.equal(await gathered({}, refused), true, `attempt ${attempt}`);
        await publish();
      }
      t.equal(await gathered({}, again), false);
      const other = [...refused.completeTypes, "identity:user"];
      t.equal(
        await gathered({}, { ...again, completeTypes: other }),
        true,
        "another list has become complete",
      );
      t.equal(await gathered({}, { ...again, completeTypes: other }), false);
      t.equal(await gathered({}, again), false, "fewer complete lists are not a reason to gather");
      t.equal(await gathered(), true, "all lists are complete");
      t.equal(await gathered(), false);
      t.equal(await gathered({}, again), false, "the list fails again");
    },
  );

  await t.test(
    "a window is left alone once it is final without a metric that the upstream refuses",
    async (t) => {
      await postgres.query("DELETE FROM tracking_dates");
      const refused = { gaps: [{ day: first, metric: "other", resource_id: "c3", reason: "refused" }] };
      for (const attempt of [1, 2, 3]) {
        t.equal(await gathered(refused), true, `attempt ${attempt}`);
        await publish();
      }
      t.equal(await gathered(refused), false);
      t.equal(await gathered({ ...refused, same: false }), true);
      t.equal(await gathered({ ...refused, failures: 101, same: false }), true);
      t.equal(
        await gathered({ ...refused, failures: 101 }),
        true,
        "there are too many failures to check each of them",
      );
      t.equal(await gathered({ ...refused, failures: 100 }), true);
      t.equal(await gathered({ ...refused, failures: 100 }), false);
    },
  );

  await t.test(
    "a window is not recorded if data of the bill was missing, or published data was kept",
    async (t) => {
      const lacking: StagingScript[] = [
        { complete: [first, second] },
        { gaps: [{ day: first, metric: "other", resource_id: "c1", reason: "down" }] },
        { billing: [...bill, { ...bill[0], currency: "" } as (typeof bill)[number]] },
      ];
      for (const script of lacking) {
        await gathered();
        await publish();
        t.equal(await gathered(), false);
        await gathered({ ...script, same: false });
        await publish();
        t.equal(await gathered(), true);
      }
    },
  );
});
