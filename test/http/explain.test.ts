import t from "tap";
import { moneyInput } from "../allocate/money.js";
import fc from "../property.js";
import { soundness } from "./explained.js";
import { publishFacts, splitRows } from "./published-facts.js";
import { startService } from "./service.js";

t.test("amounts of every kind can be calculated again from their explanation", async (t) => {
  const { app, stores } = await startService(t);
  const seed = fc.readConfigureGlobal().seed ?? Date.now();
  const met = new Set<string>();
  const drawn = [
    [4, "usual"],
    [2, "just too wide"],
    [12, "far too wide"],
  ] as const;
  const wanted = [
    "usage_ratio",
    "direct_owner",
    "even_split",
    "terminal",
    "component 0",
    "component 1",
    "tier used",
    "tier not_reached",
    "tier metrics_missing",
    "refund",
    "residue",
    "offset",
    "residue of somebody",
    "residue of the other component",
    "thousands of recipients",
    "part of nothing",
  ];
  const missing = () => wanted.filter((each) => !met.has(each));
  // Further rounds draw kinds that earlier rounds missed by chance.
  const rounds = [...drawn, ...drawn, ...drawn, ...drawn];
  for (const [index, [places, width]] of rounds.entries()) {
    if (index >= drawn.length && missing().length === 0) break;
    const [input] = fc.sample(moneyInput(20, places, width), { numRuns: 1, seed: Number(seed) + index });
    if (input === undefined) throw new Error("nothing was drawn");
    await publishFacts(stores, "acme", index + 1, input);
    for (const { name, path } of await splitRows(stores, "acme")) {
      const { response, everybody, faults } = await soundness(app, path);
      t.strictSame(faults, [], `FC_SEED=${seed}, ${places} places, ${width}: ${name}`);
      // One counterexample is sufficient. Shrinking takes minutes.
      if (!t.passing()) return;
      const { row, line, split, tiers } = response;
      met.add(row.allocation_method).add(`component ${row.component}`);
      for (const tier of tiers ?? []) met.add(`tier ${tier.outcome}`);
      if (line?.total_cost.startsWith("-")) met.add("refund");
      if (split?.residue !== "0") met.add("residue");
      if (split?.rounding_offset !== "0") met.add("offset");
      if (everybody.some(({ has_residue }) => has_residue)) met.add("residue of somebody");
      if (
        everybody.length > 1 &&
        everybody.every(({ has_residue }) => !has_residue) &&
        split?.residue !== "0"
      )
        met.add("residue of the other component");
      if (everybody.length > 5_000) met.add("thousands of recipients");
      if (everybody.some(({ amount }) => amount === "0")) met.add("part of nothing");
    }
  }
  t.strictSame(missing(), [], "every kind of split occurred");
});
