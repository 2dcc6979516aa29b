/** The status line on a screen: it appears and disappears without removing other output. */
import { Writable } from "node:stream";
import xterm from "@xterm/headless";
import t from "tap";
import type { Terminal } from "../../src/cli/command.js";
import { progressOnLine } from "../../src/cli/progress.js";
import { runSummary } from "../../src/cli/run-summary.js";
import { statusLine } from "../../src/cli/status-line.js";
import { type TextTable, writeTable } from "../../src/cli/table.js";
import type { RunOutcome } from "../../src/runner/run-events.js";
import type { RunResult } from "../../src/runner/sql/runs.js";

/** A screen without a process. `lines` are its non-empty lines. */
function screen(cols: number, rows: number) {
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, convertEol: true });
  const written: string[] = [];
  const stream: Terminal = Object.assign(
    new Writable({
      write: (chunk, _encoding, done) => terminal.write(written[written.push(String(chunk)) - 1] ?? "", done),
    }),
    { isTTY: true, columns: cols },
  );
  const lines = async () => {
    await new Promise<void>((done) => stream.write("", () => done()));
    const { active } = terminal.buffer;
    return Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? "",
    ).filter((line) => line !== "");
  };
  return { stream, lines };
}

const day = (rows: number) => ({
  day: "2026-06-01",
  lines: 1,
  rows,
  lines_off: 0,
  billed: "1",
  charged: "1",
});
const outcome: RunOutcome = {
  status: "completed",
  rows: 7,
  calculated: 2,
  failedDays: 0,
  conservationFailures: 0,
  seconds: 1,
};

t.test("log lines go above the status line and stay, even when the screen is full", async (t) => {
  const { stream, lines } = screen(40, 4);
  const line = statusLine(stream);
  line.show("at work");
  for (const each of ["one", "two", "three", "four", "five"]) line.write(`${each}\n`);
  t.strictSame(await lines(), ["one", "two", "three", "four", "five", "at work"]);
  line.clear();
  line.write("the end\n");
  t.strictSame(await lines(), ["one", "two", "three", "four", "five", "the end"]);
});

t.test("the status line is one line on any terminal and with any letters", async (t) => {
  const { stream, lines } = screen(20, 4);
  const line = statusLine(stream);
  line.show("gathering a tenant with a long name");
  t.strictSame(await lines(), ["gathering a tenant…"]);
  line.show("収集中収集中収集中収集中収集中");
  t.equal((await lines()).length, 1);
  line.clear();
  t.strictSame(await lines(), []);
});

t.test("progress is a bar that never moves back, while there are days to publish", async (t) => {
  const { stream, lines } = screen(100, 4);
  const shown = async () => (await lines())[0] ?? "";
  const observer = progressOnLine(statusLine(stream), () => 2);
  observer.began?.("acme");
  t.equal(await shown(), "0 of 2 tenants done  gathering acme");
  observer.pending?.("acme", 2);
  observer.began?.("globex");
  t.equal(
    await shown(),
    "░░░░░░░░░░░░░░░░░░░░  0 days published, 0 rows  0 of 2 tenants done  gathering globex",
  );
  observer.published?.("acme", day(1));
  t.equal(
    await shown(),
    "█████░░░░░░░░░░░░░░░  1 day published, 1 row  0 of 2 tenants done  gathering globex",
  );
  observer.published?.("acme", day(6));
  t.equal(
    await shown(),
    "██████████░░░░░░░░░░  2 days published, 7 rows  0 of 2 tenants done  gathering globex",
  );
  observer.finished?.("acme", outcome);
  observer.pending?.("globex", 4);
  t.equal(await shown(), "██████████░░░░░░░░░░  2 days published, 7 rows  1 of 2 tenants done");
  observer.published?.("globex", day(1));
  t.equal(await shown(), "████████████░░░░░░░░  3 days published, 8 rows  1 of 2 tenants done");
  observer.finished?.("globex", outcome);
  t.equal(await shown(), "", "the status line is empty");
});

t.test("a table that is wider than the terminal has one line for each cell", async (t) => {
  const table: TextTable = {
    head: ["TENANT", "DAY", "BILLING", "DIFF"],
    rows: [["acme", "7 days", "50.4", "0"]],
    keys: 2,
  };
  const at = async (columns: number) => {
    const { stream, lines } = screen(columns, 9);
    writeTable(stream, table);
    return await lines();
  };
  t.strictSame(await at(29), ["TENANT  DAY     BILLING  DIFF", "acme    7 days     50.4     0"]);
  t.strictSame(await at(28), ["acme  7 days", "  BILLING  50.4", "  DIFF        0"]);
});

t.test(
  "the summary of a run has a line per tenant, each error once with its days, and the notes",
  async (t) => {
    const result = (changes: Partial<RunResult>): RunResult => ({
      status: "completed",
      dates_gathered: 3,
      dates_pending: 0,
      dates_calculated: 0,
      chargeback_rows_written: 0,
      errors: [],
      notes: [],
      ...changes,
    });
    const error = (date: string | null, message: string) => ({ date, source: "calculate" as const, message });
    const results = new Map([
      ["acme", result({ dates_calculated: 1, chargeback_rows_written: 1 })],
      ["globex", result({})],
      ["initech", result({ dates_gathered: 0, notes: ["too soon"] })],
      [
        "stark",
        result({
          status: "completed_with_errors",
          errors: [error("2026-06-02", "is provisional")],
          notes: ["no net"],
        }),
      ],
      [
        "umbrella",
        result({
          status: "failed",
          dates_calculated: 2,
          chargeback_rows_written: 9,
          errors: [
            error("2026-06-03", "no prices"),
            error("2026-06-01", "no prices"),
            error(null, "a source is away"),
          ],
        }),
      ],
      ["wayne", undefined],
    ]);
    t.equal(
      runSummary(results, 22),
      `acme      1 day published, 1 row
globex    3 days gathered, nothing has changed
initech   no days gathered
  too soon
stark     completed with errors: no days published
  2026-06-02: is
    provisional
  no net
umbrella  FAILED: 2 days published, 9 rows
  2026-06-01 and 1
    more: no prices
  a source is away
wayne     did not run: see the log
`,
    );
  },
);
