/** Gathering with failures: records that cannot be stored, upstreams that fail, leases that are lost. */
import t from "tap";
import { LeaseLostError } from "../../src/common/lease-lost.js";
import type { BillingLine } from "../../src/ingest/ecosystem.js";
import { holds } from "../holds.js";
import { EPOCH } from "./gathering-stores.js";
import { billing, DAYS, fact, line, openStaging, usage } from "./staging-script.js";

t.test("staging a window survives failures", async (t) => {
  const { postgres, stage, rows, dates, hashes } = await openStaging(t);

  await t.test("records that cannot be stored are always reported", async (t) => {
    const refused: [string, Partial<BillingLine>, RegExp][] = [
      ["too many digits", { total_cost: "1234567890123456789012345678" }, /total_cost is not a decimal/],
      ["too many places", { unit_price: "0.1234567890123" }, /unit_price is not a decimal/],
      ["an exponent", { quantity: "1e5" }, /quantity is not a decimal/],
      ["no currency", { currency: "" }, /its currency is not three capital letters/],
      ["a currency in small letters", { currency: "usd" }, /its currency is not three capital letters/],
      ["a currency of four letters", { currency: "USDT" }, /its currency is not three capital letters/],
      ["no resource", { resource_id: "" }, /resource_id is empty/],
      ["a control character", { resource_id: "a\u0000b" }, /resource_id has control characters/],
      ["half a character", { env_id: "\ud800" }, /env_id has control characters/],
      ["a long id", { resource_id: "x".repeat(1001) }, /longer than 1000/],
      ["no time", { timestamp: "2026-01-02T25:00:00Z" }, /timestamp/],
    ];
    for (const [name, changes, reason] of refused) {
      const bad = [line("2026-01-01"), line("2026-01-02"), line("2026-01-02", changes), line("2026-01-03")];
      const result = await stage({ billing: bad });
      holds(
        t,
        result,
        { incomplete: ["2026-01-02"], errors: [/2026-01-02: the billing line/], dropped: { malformed: 1 } },
        name,
      );
      holds(t, result.errors[0], reason);
    }
    const nowhere = await stage({ billing: [...billing, line("2026-01-01", { timestamp: "soon" })] });
    holds(
      t,
      nowhere,
      { staged: [], incomplete: DAYS },
      "a line that cannot be stored makes all days incomplete",
    );
    const outside = await stage({ billing: [...billing, line("2026-01-04"), line("2025-12-31")] });
    holds(t, outside, { staged: DAYS, dropped: { outside_window: 2 } });
    const bad = [
      fact("2026-01-01", ""),
      fact("2026-01-02", "x", { micro_units: "-1" }),
      fact("2026-01-04", "y"),
    ];
    const badUsage = await stage({ billing, stagedUsage: [...usage, ...bad] });
    holds(t, badUsage, { staged: DAYS, dropped: { malformed: 2, outside_window: 1 } });
    t.same(
      (await dates()).map((date) => (date.lacks as string[]).length > 0),
      [true, true, false],
    );
  });

  /** Enough facts that some of them are inserted before the gathering ends. */
  const plenty = Array.from({ length: 50_000 }, (_, index) =>
    fact("2026-01-01", `User:${"long".repeat(200)}-${index}`),
  );
  const fails = () => Promise.reject(new Error("down"));

  await t.test("an upstream that is down leaves earlier staged days in place", async (t) => {
    await stage({ billing, stagedUsage: usage });
    const before = await dates();
    await t.rejects(stage({ last: fails }), { message: "down" });
    t.same(await dates(), before);
    t.equal((await rows("billing")).length, 3);
  });

  await t.test("an upstream that fails half-way leaves nothing staged", async (t) => {
    await stage({ billing, stagedUsage: usage });
    await t.rejects(stage({ billing, stagedUsage: plenty, last: fails }), { message: "down" });
    t.same(await hashes(), [null, null, null]);
    holds(
      t,
      await stage({ billing, stagedUsage: usage }),
      { staged: DAYS },
      "the next gathering starts from nothing",
    );
    t.equal((await rows("usage")).length, 6);
  });

  await t.test("a holder of a lost lease neither stages nor records anything", async (t) => {
    await stage({ billing, stagedUsage: usage });
    const before = await dates();
    await t.rejects(stage({ billing, stagedUsage: usage }, { epoch: EPOCH - 1 }), LeaseLostError);
    t.same(await dates(), before);
    const taken = async () => {
      await postgres.query("UPDATE leases SET epoch = $1", [EPOCH + 1]);
    };
    await t.rejects(stage({ billing, stagedUsage: usage, last: taken }), LeaseLostError);
    t.same(await dates(), before, "the lease is lost while gathering");
    await postgres.query("UPDATE leases SET epoch = $1", [EPOCH]);
    await t.rejects(stage({ billing, stagedUsage: plenty, last: taken }), LeaseLostError);
    t.same(await hashes(), [null, null, null], "if the lease is lost while staging, nothing is recorded");
    await postgres.query("UPDATE leases SET epoch = $1", [EPOCH]);
  });
});
