import t from "tap";
import { type Calculation, calculateDays } from "../../src/allocate/calculate.js";
import { chargebackLedger } from "../../src/allocate/ledger.js";
import { storeRuleSet } from "../../src/allocate/rules.js";
import { WORTH_SUMMING } from "../../src/allocate/sql/usage-sums.js";
import { type WeightBound, weightBound } from "../../src/allocate/sql/weight-bound.js";
import { claimStaging } from "../../src/clickhouse/staging.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { holds } from "../holds.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import { moneyDays, moneyInput, widths } from "./money.js";
import { SplitClasses, splitClasses } from "./money-classes.js";
import { withOtherCosts } from "./other-costs.js";
import { allocate } from "./referee.js";
import { amountsOf, readStaged, stageInput, sums, variedRuleSet } from "./staged-days.js";

/** `FC_LINES=1000000` draws a million lines. */
const wanted = Number(process.env.FC_LINES ?? 10_000);
const places = Array.from({ length: 11 }, (_, i) => i + 2);
/** Some lines become several hourly ones. */
const drawnAtOnce = Math.min(1300, Math.ceil(wanted / places.length / widths.length / 1.5));

t.test(
  "property: lines of every kind are split like the reference splits them, to the last unit",
  async (t) => {
    const { stores } = await openTestStores(t);
    const { client } = await stores.tenant("acme");
    await claimStaging(client, 1);
    await storeRuleSet(client, variedRuleSet);
    const seed = fc.readConfigureGlobal().seed ?? Date.now();
    t.comment(`FC_SEED=${seed}`);
    const met = new SplitClasses();

    for (let round = 0; met.lines < wanted; round += 1) {
      for (const [index, width] of widths.entries()) {
        for (const decimalPlaces of places) {
          const numbers = { numRuns: 1, seed: Number(seed) + round * 1000 + index * 100 + decimalPlaces };
          const [drawn] = fc.sample(moneyInput(drawnAtOnce, decimalPlaces, width), numbers);
          if (drawn === undefined) throw new Error("nothing was drawn");
          const hasOtherCosts = (decimalPlaces + index) % 2 === 0;
          const input = hasOtherCosts ? { ...drawn, lines: drawn.lines.map(withOtherCosts) } : drawn;
          const calculation: Calculation = {
            ledger: chargebackLedger,
            client,
            epoch: 1,
            rules: variedRuleSet,
            decimalPlaces,
            signal: new AbortController().signal,
            maxMemoryBytes: 2 ** 30,
            hasOtherCosts,
          };
          const samples = decimalPlaces % 3 === 0 ? WORTH_SUMMING : 1;
          await stageInput(client, 1, input, { samples });
          const [bound] = await readRows<WeightBound>(
            client,
            weightBound({
              ledger: chargebackLedger,
              epoch: 1,
              days: moneyDays,
              decimalPlaces,
              hasOtherCosts,
            }),
          );
          t.equal(bound?.samples_a_sum, samples);
          met.read(bound?.samples_a_sum === 1 ? "by the sample" : "by the sum");
          const checks = await calculateDays(calculation, moneyDays);
          const rows = await readStaged(client, 1);
          met.count(input, rows, width);
          const name = `FC_SEED=${seed}, ${decimalPlaces} places, ${width}`;
          const referee = allocate({ ...input, rules: variedRuleSet });
          const differ = referee.findIndex((row, i) => !isSame(row, rows[i]));
          holds(
            t,
            { rows: rows.length, differ: rows[differ] },
            { rows: referee.length, differ: referee[differ] },
            name,
          );
          const billed = sums(input.lines.map(({ currency, cost }) => [currency, cost]));
          const charged = sums(checks.flatMap((check) => amountsOf(check.charged)));
          const off = checks.filter((check) => Number(check.lines_off) !== 0).map(({ day }) => day);
          t.strictSame({ off, charged }, { off: [], charged: billed }, name);
          // One counterexample is enough; finding more takes minutes.
          if (!t.passing()) return;
        }
      }
    }
    t.comment(`${met.lines} lines: ${met}`);
    t.strictSame(met.missing(splitClasses, 4), [], "every kind of split was met");
  },
);

function isSame<Row extends object>(a: Row, b: Row | undefined): boolean {
  return b !== undefined && Object.entries(a).every(([name, value]) => b[name as keyof Row] === value);
}
