/**
 * How the texts of a bill become amounts and instants: rounded half away from zero to 12 places, and in UTC whatever
 * zone they are written in.
 */
import t from "tap";
import { readRows } from "../../../src/clickhouse/statement.js";
import { openScratchEngine } from "../../../src/focus/check/scratch-engine.js";
import {
  instantColumn,
  isPlain,
  isRounded,
  stored,
} from "../../../src/ingest/ecosystems/focus/load/line-sql.js";
import { testLogger } from "../../stores.js";

t.test("texts of a bill are converted", async (t) => {
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  /** Reads each text by expressions on the column `text`. */
  const read = async <Row>(texts: readonly string[], expressions: string) =>
    await readRows<Row>(engine.client, {
      query: `SELECT ${expressions} FROM (SELECT arrayJoin({texts:Array(String)}) AS text)`,
      params: { texts },
    });

  await t.test("an amount is rounded at its 12th place, which is reported", async (t) => {
    const amounts = [
      ["10.5", "10.5", 0],
      ["-0.000000000001", "-0.000000000001", 0],
      ["0.0000000000005", "0.000000000001", 1],
      ["-0.0000000000005", "-0.000000000001", 1],
      ["0.00000000000049999", "0", 1],
      ["1.0000000000014", "1.000000000001", 1],
      ["1.0000000000015", "1.000000000002", 1],
      ["-1.0000000000015", "-1.000000000002", 1],
      ["1.000000000000000", "1", 0],
      ["1.5e-7", "0.00000015", 0],
      ["1e-40", "0", 1],
      ["99999999999999999999999999.999999999999", "99999999999999999999999999.999999999999", 0],
      ["100000000000000000000000000", null, 0],
      ["ten", null, 0],
    ] as const;
    const plain = isPlain("text");
    const found = await read<{ amount: string | null; rounded: number }>(
      amounts.map(([text]) => text),
      `toString(${stored("text", plain)}) AS amount, toUInt8(${isRounded("text", plain)}) AS rounded`,
    );
    t.strictSame(
      found.map(({ amount, rounded }) => [amount, rounded]),
      amounts.map(([, amount, rounded]) => [amount, rounded]),
    );
  });

  await t.test("an instant is in UTC, whatever zone it is written in", async (t) => {
    const instants = [
      ["2026-05-01T00:00:00Z", "2026-05-01 00:00:00"],
      ["2026-05-01T00:00:00+02:00", "2026-04-30 22:00:00"],
      ["2026-04-30T20:00:00-04:00", "2026-05-01 00:00:00"],
      ["2026-05-01 00:00:00", "2026-05-01 00:00:00"],
      ["2026-05-01T00:00:00", "2026-05-01 00:00:00"],
      ["2026-05-01", "2026-05-01 00:00:00"],
      ["2026-05-01T00:00Z", "2026-05-01 00:00:00"],
      ["2026-05-01T00:00:00.999Z", "2026-05-01 00:00:00"],
      ["1989-12-31T23:59:59Z", null],
      ["1990-01-01T00:00:00Z", "1990-01-01 00:00:00"],
      ["2100-01-01T00:00:01Z", null],
      ["05/01/2026", null],
      ["2026-05-01T25:00:00Z", null],
      ["", null],
    ] as const;
    const found = await read<{ at: string | null }>(
      instants.map(([text]) => text),
      `toString(${instantColumn("text")}) AS at`,
    );
    t.strictSame(
      found.map(({ at }) => at),
      instants.map(([, at]) => at),
    );
  });
});
