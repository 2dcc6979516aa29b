/** Which deliveries count: the newest snapshot of a scope, every addition, nothing in part. */
import { Readable } from "node:stream";
import t from "tap";
import type {
  DeliveryStore,
  LoadSettings,
} from "../../../src/ingest/ecosystems/focus/deliveries/delivery-store.js";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import { type Delivery, FileChangedError } from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import { acceptDelivery } from "../../../src/postgres/accept-delivery.js";
import {
  csv,
  deliveryOf,
  fileOf,
  loadedRows,
  loadSettings,
  openDeliveryStore,
  recorded,
  testBillSource,
} from "./bills.js";

const store = await openDeliveryStore(t);
const signal = new AbortController().signal;

async function reported(
  deliveries: readonly Delivery[],
  changes: Partial<LoadSettings> = {},
  of: DeliveryStore = store,
) {
  return await loadDeliveries(of, [testBillSource(...deliveries)], { ...loadSettings, ...changes }, signal);
}
const bill = (amount: string, lines = 4, name = "bill.csv") =>
  fileOf(
    name,
    csv(Array(lines).fill({ EffectiveCost: amount, BilledCost: amount, ResourceId: `i-${amount}` })),
  );
/** State, lines and effective cost of each recorded delivery, and the existing partitions. */
async function kept() {
  const records = await recorded(store);
  const partitions = await loadedRows<{ lines: number }>(
    store,
    "SELECT toUInt32(count()) AS lines FROM focus_lines GROUP BY delivery ORDER BY delivery",
  );
  return {
    records: records.map(
      ({ state, lines, sums }) =>
        `${state} ${lines} ${(sums as { effective_cost: string }[])[0]?.effective_cost}`,
    ),
    partitions: partitions.map(({ lines }) => lines),
  };
}
t.beforeEach(async () => {
  await store.postgres.query("DELETE FROM deliveries");
});

const commitments = fileOf(
  "2026-05/contract-commitment.csv",
  "ContractCommitmentId,ContractCommitmentCost,BillingCurrency\ncc-1,1200,USD\n",
);
const budget = fileOf("2026-05/budget.csv", "Team,Budget\nweb,10\n");

t.test("files of other datasets beside a bill are named, and their rows are not charged", async (t) => {
  const report = await reported([deliveryOf([bill("1"), commitments, budget, bill("2", 1, "last.csv")])]);
  const remarks = [
    '"2026-05/contract-commitment.csv" holds contract commitments of FOCUS, and is left alone',
    '"2026-05/budget.csv" holds another table (its columns are Team, Budget), and is left alone',
  ];
  t.strictSame(report, {
    errors: [],
    warnings: [],
    notes: remarks.map((remark) => `bills 2026-05: ${remark}`),
  });
  t.strictSame(await kept(), { records: ["current 5 6"], partitions: [5] });
  const [{ files, remarks: recordedRemarks } = {}] = await recorded(store);
  t.strictSame(recordedRemarks, remarks);
  t.strictSame(
    (files as { name: string; dataset?: string }[]).map(({ name, dataset }) => [name, dataset]),
    [
      ["bill.csv", undefined],
      ["2026-05/contract-commitment.csv", "contract commitments of FOCUS"],
      ["2026-05/budget.csv", "another table (its columns are Team, Budget)"],
      ["last.csv", undefined],
    ],
  );
});

t.test("a delivery with only other datasets replaces nothing, and is read once", async (t) => {
  await reported([deliveryOf([bill("1")])]);
  const other = { billing_period: "2026-06" };
  const { notes, errors } = await reported([
    deliveryOf([bill("1")]),
    deliveryOf([commitments, budget], other),
  ]);
  t.strictSame(errors, []);
  t.strictSame(notes, [
    'bills 2026-06: "2026-05/contract-commitment.csv" holds contract commitments of FOCUS, and is left alone; 1 more file is no bill either',
  ]);
  const unread = [commitments, budget].map((file) => ({ ...file, open: () => t.fail("opened") as never }));
  t.strictSame(
    (await reported([deliveryOf([bill("1")]), deliveryOf(unread, other)])).notes,
    notes,
    "each run reports it",
  );
  t.strictSame((await kept()).records, ["current 4 4", "no_bill null undefined"]);
  // The bill was moved elsewhere, and its month has only the other dataset.
  t.strictSame((await reported([deliveryOf([commitments])])).errors, [
    'bills 2026-05: "2026-05/contract-commitment.csv" holds contract commitments of FOCUS, and is left alone',
  ]);
  t.strictSame(await kept(), {
    records: ["current 4 4", "no_bill null undefined", "no_bill null undefined"],
    partitions: [4],
  });
  await reported([deliveryOf([bill("2")]), deliveryOf([bill("3")], other)]);
  t.strictSame((await kept()).records, [
    "replaced 4 4",
    "replaced null undefined",
    "replaced null undefined",
    "current 4 8",
    "current 4 12",
  ]);
});

t.test("snapshots replace their month, and additions add to it", async (t) => {
  await reported([deliveryOf([bill("1")]), deliveryOf([bill("7")], { billing_period: "2026-06" })]);
  t.strictSame(await kept(), { records: ["current 4 4", "current 4 28"], partitions: [4, 4] });
  t.strictSame(await reported([deliveryOf([bill("2")])]), { errors: [], warnings: [], notes: [] });
  t.strictSame(
    await kept(),
    { records: ["replaced 4 4", "current 4 28", "current 4 8"], partitions: [4, 4] },
    "only bills of the same scope are replaced",
  );
  const unread = { ...bill("2"), open: () => t.fail("opened") as never };
  await reported([deliveryOf([unread])]);
  t.equal((await recorded(store)).length, 3, "the same bill is not read again");
  await store.postgres.query("DELETE FROM deliveries");
  const addition = (name: string, amount: string) => {
    const rows = Array(4).fill({ EffectiveCost: amount, BilledCost: amount, ResourceId: name });
    return deliveryOf([fileOf(name, csv(rows))], { kind: "additive", billing_period: undefined });
  };
  await reported([addition("a.csv", "1"), addition("b.csv", "2")]);
  await reported([addition("a.csv", "1"), addition("b.csv", "2")]);
  t.strictSame((await kept()).records, ["current 4 4", "current 4 8"], "each addition is loaded once");
  await reported([addition("a.csv", "1"), addition("b.csv", "3")]);
  t.strictSame(
    (await kept()).records,
    ["current 4 4", "replaced 4 8", "current 4 12"],
    "a file that was written again replaces its former content",
  );
});

t.test("a bill of a past month that shrinks by more than the limit waits", async (t) => {
  await reported([deliveryOf([bill("10")])]);
  const smaller = deliveryOf([bill("4")]);
  const problem = "bills 2026-05: its billed_cost in USD is 60 % less than that of the bill it would replace";
  t.strictSame((await reported([smaller])).errors, [problem]);
  t.strictSame(
    (await reported([smaller])).errors,
    [problem],
    "each run reports it until the bill is accepted or replaced",
  );
  t.strictSame((await kept()).records, ["current 4 40", "waiting_for_acceptance 4 16"]);
  t.strictSame((await reported([deliveryOf([bill("10", 1)])])).errors, [
    "bills 2026-05: it has 75 % fewer lines than the bill it would replace (1 instead of 4)",
  ]);
  t.strictSame((await reported([deliveryOf([bill("6")])])).errors, []);
  t.strictSame((await kept()).records, ["replaced 4 40", "replaced 4 16", "replaced 1 10", "current 4 24"]);
  await reported([]);
  t.strictSame((await kept()).partitions, [4], "the next run drops the bill that waited");
  t.strictSame(
    (await reported([deliveryOf([bill("1")])], { today: "2026-05-20" })).errors,
    [],
    "a bill of a month that is not over may shrink",
  );
});

t.test(
  "a file that changes while it is read leaves the counting bill in place, and is read again",
  async (t) => {
    await reported([deliveryOf([bill("1")])]);
    const text = csv(Array(20_000).fill({ EffectiveCost: "9" }));
    async function* broken() {
      yield Buffer.from(text);
      throw new FileChangedError("bill.csv");
    }
    const changed = {
      ...fileOf("bill.csv", text),
      open: async () => Readable.from(broken(), { objectMode: false }),
    };
    const { errors } = await reported([deliveryOf([bill("9"), changed])]);
    t.strictSame(errors, ['bills: "bill.csv" changed after it was listed, or while it was read']);
    t.strictSame(await kept(), { records: ["current 4 4", "loading null undefined"], partitions: [4] });
    await reported([deliveryOf([bill("9"), fileOf("bill.csv", text)])]);
    t.strictSame((await kept()).records, ["replaced 4 4", "current 20004 180036"]);
  },
);

t.test("the remains of an interrupted load are dropped, and a lost lease changes nothing", async (t) => {
  await reported([deliveryOf([bill("1")])]);
  await store.client.command({ query: "INSERT INTO focus_lines (delivery) SELECT 999999 FROM numbers(10)" });
  await store.postgres.query(`INSERT INTO deliveries (tenant_name, source, scope, kind, content_id, settings_hash, state, epoch)
    SELECT tenant_name, 'bills', '2026-05', 'snapshot', 'x', 'h', 'loading', 6 FROM tenants`);
  await reported([]);
  t.strictSame(await kept(), { records: ["current 4 4"], partitions: [4] });
  await t.rejects(reported([deliveryOf([bill("2")])], {}, { ...store, epoch: 6 }), {
    name: "LeaseLostError",
  });
  t.strictSame(await kept(), { records: ["current 4 4"], partitions: [4] });
});

t.test("a bill that counts keeps its lines if those of the one before cannot be dropped", async (t) => {
  await reported([deliveryOf([bill("1")])]);
  let failures = 0;
  const command: typeof store.client.command = async (input) => {
    if (failures === 0 && input.query.includes("DROP PARTITION")) {
      failures += 1;
      throw new Error("the connection was lost");
    }
    return await store.client.command(input);
  };
  const client = new Proxy(store.client, {
    get: (target, name) => {
      const found = Reflect.get(target, name);
      if (name === "command") return command;
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
  const { errors } = await reported([deliveryOf([bill("2")])], {}, { ...store, client });
  t.strictSame([errors, failures], [["bills: the connection was lost"], 1]);
  t.strictSame(await kept(), { records: ["replaced 4 4", "current 4 8"], partitions: [4, 4] });
  t.strictSame(await reported([deliveryOf([bill("2")])]), { errors: [], warnings: [], notes: [] });
  t.strictSame((await kept()).partitions, [4], "the next run drops them");
});

t.test("a source that cannot be listed does not affect the others", async (t) => {
  const down = { ...testBillSource(), name: "down", list: () => Promise.reject(new Error("no route")) };
  const waiting = {
    ...testBillSource(),
    name: "late",
    list: async () => ({
      deliveries: [],
      pending: [],
      waiting: [{ name: "2026-06", reason: "no manifest" }],
      remarks: ['"_temporary/": skipped'],
    }),
  };
  const report = await loadDeliveries(
    store,
    [down, waiting, testBillSource(deliveryOf([bill("1")], { remarks: ["two manifests"] }))],
    loadSettings,
    signal,
  );
  t.strictSame(report, {
    errors: ["down: no route"],
    warnings: ["late: 2026-06: no manifest", "bills 2026-05: two manifests"],
    notes: ['late: "_temporary/": skipped'],
  });
  t.strictSame((await kept()).records, ["current 4 4"]);
});

t.test("a bill without any readable date is refused, and the one before counts", async (t) => {
  await reported([deliveryOf([bill("1")])]);
  const undated = csv([{ ChargePeriodStart: "05/23/2026" }, { ChargePeriodStart: "2026/05/24" }]);
  const problem =
    "bills 2026-05: no line has an ISO date in ChargePeriodStart, such as 2026-05-31T00:00:00Z: nothing of it is charged";
  const delivery = deliveryOf([fileOf("bill.csv", undated)]);
  t.strictSame(await reported([delivery]), { errors: [problem], warnings: [], notes: [] });
  t.strictSame(
    await reported([delivery]),
    { errors: [problem], warnings: [], notes: [] },
    "each run reports it",
  );
  t.strictSame(await kept(), { records: ["current 4 4", "refused null undefined"], partitions: [4] });
  const header = deliveryOf([fileOf("none.csv", csv([]))], { billing_period: "2026-04" });
  t.strictSame(
    await reported([header]),
    { errors: [], warnings: [], notes: [] },
    "a bill without lines needs no date",
  );
});

/** A bill of June with a line of an amount on each of the days. */
const june = (amount: string, ...days: number[]) =>
  csv(
    days.map((day) => ({
      EffectiveCost: amount,
      BilledCost: amount,
      ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
      ChargePeriodEnd: `2026-06-${day + 1}T00:00:00Z`,
    })),
  );
const undated = (text: string) => deliveryOf([fileOf("bill.csv", text)], { billing_period: undefined });
const ofMonth = (text: string, month = "2026-06") =>
  deliveryOf([fileOf(`${month}/bill.csv`, text)], { billing_period: month });
const addition = (text: string, name: string) =>
  deliveryOf([fileOf(name, text)], { kind: "additive", billing_period: undefined });

t.test("charges that are delivered in another way replace the earlier deliveries", async (t) => {
  const text = june("1", 10, 11);
  const halves = [june("1", 10), june("1", 11)] as const;
  const ways = {
    undated: [undated(text)],
    month: [ofMonth(text)],
    additions: [addition(halves[0], "a.csv"), addition(halves[1], "b.csv")],
    renamed: [addition(halves[0], "2026-06/a.csv"), addition(halves[1], "2026-06/b.csv")],
  };
  for (const [before, after] of [
    ["undated", "month"],
    ["month", "undated"],
    ["additions", "month"],
    ["month", "additions"],
    ["additions", "undated"],
    ["additions", "renamed"],
  ] as const) {
    await store.postgres.query("DELETE FROM deliveries");
    await reported(ways[before]);
    t.strictSame(
      await reported(ways[after]),
      { errors: [], warnings: [], notes: [] },
      `${before}, then ${after}`,
    );
    const amount = (each: readonly Delivery[]) => (each.length === 1 ? "2 2" : "1 1");
    const records = [
      ...ways[before].map(() => `replaced ${amount(ways[before])}`),
      ...ways[after].map(() => `current ${amount(ways[after])}`),
    ];
    const partitions = ways[after].map(() => 2 / ways[after].length);
    t.strictSame(await kept(), { records, partitions });
    const unread = ways[after].map((each) => ({
      ...each,
      files: each.files.map((file) => ({ ...file, open: () => t.fail("opened") as never })),
    }));
    t.strictSame(await reported(unread), { errors: [], warnings: [], notes: [] });
    t.strictSame((await kept()).records, records, "the records stay the same");
  }
});

t.test(
  "a delivery that shares no day with the current bills stays, and so do all if nothing is listed",
  async (t) => {
    await reported([undated(june("1", 10, 11))]);
    await reported([]);
    t.strictSame((await kept()).records, ["current 2 2"]);
    await reported([ofMonth(csv([{}]), "2026-05"), undated(june("1", 10, 11))]);
    t.strictSame((await kept()).records, ["current 2 2", "current 1 1"], "both deliveries are current");
    await reported([ofMonth(csv([{}]), "2026-05")]);
    t.strictSame((await kept()).records, ["current 2 2", "current 1 1"]);
  },
);

t.test("bills that would remove days wait together for the remaining bills or for a person", async (t) => {
  await reported([undated(june("1", 10, 11, 12))]);
  const problem =
    "bills: the bill of 2026-06 would take the place of the bill without a month, because the source delivers in another way now; but ";
  const lost = `${problem}2 days of what is there now would be lost, from 2026-06-11 on`;
  t.strictSame((await reported([ofMonth(june("1", 10))])).errors, [lost]);
  t.strictSame((await reported([ofMonth(june("1", 10))])).errors, [lost], "each run reports it");
  t.strictSame(
    (await reported([ofMonth(june("0.1", 10, 11, 12))])).errors,
    [`${problem}its billed_cost in USD is 90 % less than that of the bill it would replace`],
    "the month is over, so its bill may not shrink",
  );
  const source = {
    ...testBillSource(),
    list: async () => ({
      deliveries: [ofMonth(june("1", 10, 11, 12))],
      pending: [{ kind: "snapshot" as const, billing_period: "2026-07" }],
      waiting: [],
      remarks: [],
    }),
  };
  const { errors } = await loadDeliveries(store, [source], loadSettings, signal);
  t.strictSame(errors, [`${problem}not all bills of the source are ready`]);
  t.strictSame((await kept()).records.at(0), "current 3 3");
  t.strictSame((await reported([ofMonth(june("1", 10, 11, 12))])).errors, []);
  t.strictSame((await kept()).records, ["replaced 3 3", "replaced 1 1", "replaced 3 0.3", "current 3 3"]);

  await store.postgres.query("DELETE FROM deliveries");
  await reported([undated(june("1", 10, 11, 12))]);
  const additions = [addition(june("1", 10), "a.csv"), addition(june("1", 11), "b.csv")];
  t.strictSame((await reported(additions)).errors, [
    "bills: the addition a.csv and the addition b.csv would take the place of the bill without a month, because the source delivers in another way now; but 1 day of what is there now would be lost, from 2026-06-12 on",
  ]);
  const { rows } = await store.postgres.query<{ id: number }>(
    "SELECT delivery_id::int AS id FROM deliveries WHERE state = 'waiting_for_acceptance' ORDER BY 1",
  );
  await acceptDelivery(store.postgres, store.tenantName, rows[0]?.id ?? 0);
  t.strictSame(
    (await kept()).records,
    ["replaced 3 3", "current 1 1", "current 1 1"],
    "the bills are accepted together",
  );
  t.strictSame(await reported(additions), { errors: [], warnings: [], notes: [] });
});
