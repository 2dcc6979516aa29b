import { mutantsOf } from "./mutant.js";

const fencing = ["test/runner/fencing.test.ts"];
const crash = ["test/runner/publish-crash.test.ts"];
const lease = ["test/runner/lease.test.ts"];
const oneStep = ["test/runner/one-step.test.ts"];
const sums = ["test/stores/facts/sums.test.ts"];

const replacements = ["test/embedded-clickhouse/partition-replacement-log.test.ts"];

export const publishMutants = [
  ...mutantsOf("src/embedded-clickhouse/server/partition-replacement-log.ts", replacements, [
    [
      "a replacement that was cut off is forgotten",
      "const problem = entry && (await rerun(engine, entry));",
      "const problem = entry && undefined;",
    ],
    [
      "a replacement is written down after it",
      "await write(file, entryOf(replacement));\n      await syncFolder(folder);\n      try {\n        return await run();",
      "try {\n        const done = await run();\n        await write(file, entryOf(replacement));\n        return done;",
    ],
  ]),
  ...mutantsOf("src/allocate/swap-days.ts", crash, [
    [
      "a store that dies is not waited for",
      "!(error instanceof ClickHouseError) && !signal.aborted",
      "error instanceof RangeError",
    ],
  ]),
  ...mutantsOf("src/allocate/sql/publishing-state.ts", fencing, [
    [
      "a result is noted without the lease",
      `FROM unnest($3::date[], $4::bigint[]) AS d(day, rows)
WHERE t.tenant_name = $1 AND t.tracking_date = d.day AND t.publishing_hash IS NOT NULL
  AND \${HAS_LEASE}`,
      `FROM unnest($3::date[], $4::bigint[]) AS d(day, rows)
WHERE t.tenant_name = $1 AND t.tracking_date = d.day AND t.publishing_hash IS NOT NULL`,
    ],
  ]),
  ...mutantsOf("src/allocate/publish.ts", fencing, [
    [
      "a lost lease goes unnoticed",
      "if (touched.rowCount !== days.length) throw",
      "if (days.length < 0) throw",
    ],
  ]),
  ...mutantsOf("src/allocate/sql/publishing-state.ts", crash, [
    ["the number of rows is not noted", "chargeback_rows = d.rows", "chargeback_rows = 0"],
    [
      "what was staged is not forgotten",
      "published_hash = t.publishing_hash, publishing_hash = NULL, staged_hash = NULL",
      "published_hash = t.publishing_hash, publishing_hash = NULL",
    ],
  ]),
  ...mutantsOf("src/allocate/swap-days.ts", crash, [
    [
      "a day that has gone stays visible",
      "filled.get(into)?.has(day) || filled.get(staged)?.has(day)",
      "filled.get(staged)?.has(day)",
    ],
  ]),
  ...mutantsOf("src/stores/facts/atomic-swap.ts", oneStep, [
    [
      "the bill is replaced before the chargebacks",
      "  await steps.chargebacks();\n  await Promise.all([sleep(SNAPSHOT_MS), rebuildSums({ client, epoch }, days)]);\n  await steps.billing();",
      "  await steps.billing();\n  await Promise.all([sleep(SNAPSHOT_MS), rebuildSums({ client, epoch }, days)]);\n  await steps.chargebacks();",
    ],
    [
      "sums stay what they were",
      "await Promise.all([sleep(SNAPSHOT_MS), rebuildSums({ client, epoch }, days)]);",
      "await sleep(SNAPSHOT_MS);",
    ],
    ["readers have no time to look", "const SNAPSHOT_MS = 100;", "const SNAPSHOT_MS = 0;"],
    [
      "a forgotten publish stays announced",
      'await replaceDays(client, "billing", staged, switched);',
      'await replaceDays(client, "billing", staged, []);',
    ],
  ]),
  ...mutantsOf("src/stores/facts/sums.ts", sums, [
    ["other days of a month lose their sums", "AND day NOT IN {days:Array(Date)}", "AND 0"],
    [
      "sums are not compared before they are shown",
      "if (mismatches.length > 0)",
      "if (mismatches.length > 99)",
    ],
    ["amounts are not compared", "uniqExact(n, amount) != 1", "uniqExact(n) != 1"],
    ["what was changed by hand stays", "await rebuildSums(store, days);\n  return days;", "return days;"],
  ]),
  ...mutantsOf("src/clickhouse/published-reads.ts", oneStep, [
    [
      "sums are read from their tables while days are published",
      "throwIf(count() > 0,",
      "throwIf(count() > 1000,",
    ],
  ]),
  ...mutantsOf("src/allocate/roll-forward.ts", crash, [
    ["a day is swapped in though its rows are gone", "billing_lines === 0 ||", "billing_lines >= 0 ||"],
  ]),
  ...mutantsOf(
    "src/allocate/roll-forward.ts",
    ["test/runner/topic-attribution-crash.test.ts"],
    [
      [
        "attributions of a lost bill are kept",
        "attributions.finished.filter(hasBill)",
        "attributions.finished.slice()",
      ],
    ],
  ),
  ...mutantsOf("src/runner/sql/leases.ts", lease, [
    [
      "an expired lease is prolonged",
      "WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now()`",
      "WHERE tenant_name = $1 AND epoch = $2`",
    ],
    ["the epoch starts over", "epoch = leases.epoch + 1", "epoch = 1"],
    ["a lease that is held is taken", "WHERE leases.expires_at <= now()\n", ""],
    [
      "whoever held it last gives back the lease of another",
      '"UPDATE leases SET expires_at = now() WHERE tenant_name = $1 AND epoch = $2"',
      '"UPDATE leases SET expires_at = now() WHERE tenant_name = $1 AND epoch <= $2 + 1"',
    ],
  ]),
  ...mutantsOf("src/runner/lease.ts", lease, [
    [
      "a lease that was taken over is believed in",
      "if (prolonged.rowCount !== 1)",
      "if (prolonged.rowCount === 7)",
    ],
    ["the heartbeat does not count", "end = after(seconds - secondsSince(sentAt), onExpired);", ""],
  ]),
];
