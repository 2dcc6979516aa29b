/** `chargehouse demo` on a terminal: the reconciliation, who pays, and early ends. */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { CommandError } from "../../src/cli/command.js";
import { demo } from "../../src/cli/demo.js";
import { temporaryFolder } from "../stores.js";
import { until } from "../until.js";
import { commandIo } from "./command-io.js";
import { onTerminal } from "./terminal.js";

t.test("a port in use is reported before any work is done, with the flag to change it", async (t) => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const port = String((server.address() as AddressInfo).port);
  const folder = temporaryFolder(t);
  for (const [flag, others] of [
    ["--port", []],
    ["--sql-port", ["--port", "0"]],
  ] as const) {
    const { io, written } = commandIo();
    const args = [flag, port, ...others, "--data-dir", join(folder, "demo")];
    const refused = demo.run(args, io);
    await t.rejects(refused, {
      message: `Port ${port} on 127.0.0.1 is in use: choose another with ${flag}`,
      exitCode: 1,
    });
    await t.rejects(refused, CommandError);
    t.strictSame([written.stdout, readdirSync(folder)], ["", []], "no work was done");
  }
});

t.test("--exit on a terminal of 80 × 24 shows every table in full, and who pays", async (t) => {
  const run = onTerminal(["demo", "--exit", "--size", "tiny", "--days", "4"], { cols: 80, rows: 24 });
  t.equal(await run.ended, 0);
  const lines = run.lines();
  const table = (head: RegExp) => {
    const from = lines.findIndex((line) => head.test(line));
    const to = lines.findIndex(
      (line, at) => at > from && !/^(cloud|orders|payments|clouds|kubernetes) /.test(line),
    );
    return lines.slice(from + 1, to === -1 ? undefined : to);
  };
  const heads = [/CHARGEBACKS EUR +DIFF$/, /CHARGEBACKS USD +DIFF$/, /ATTRIBUTED USD +DIFF$/];
  const sums = heads.flatMap(table).map((line) => line.split(/ {2,}/));
  t.strictSame(
    sums.map(([tenant, days, _lines, _rows, _billing, _given, difference]) => [tenant, days, difference]),
    ["clouds", "cloud", "orders", "payments", "clouds", "kubernetes", "cloud"].map((tenant) => [
      tenant,
      "3 days",
      "0",
    ]),
  );
  for (const [, , , , billing, given] of sums)
    t.ok(billing === given && billing !== "0", `${billing} = ${given}`);
  t.ok(lines.includes("Every line adds up."));
  const paying = table(/^TENANT +WHO PAYS MOST +TEAM +CURRENCY +COST +SHARE$/);
  t.strictSame(
    paying.map((line) =>
      /^(\w+) +.*?(?: +[A-Z]{3})( +\d+\.\d\d +[\d.]+ %)?$/
        .exec(line)
        ?.slice(1, 3)
        .map((part) => part !== undefined),
    ),
    Array.from({ length: 24 }, (_, at) => [true, at % 4 < 3]),
    "each tenant and currency shows three recipients with cost and share, and the number of others",
  );
  const again = lines.findIndex((line) => /^A bill is delivered again: .* on \d{4}-\d\d-\d\d\.$/.test(line));
  t.match(
    lines[again + 1] ?? "",
    /^clouds {2}1 day published, [1-9]\d* rows$/,
    "the tenant has published one of its days",
  );
  const question = lines.indexOf("Does it still add up?", again);
  t.ok(question > again);
  t.equal(lines.at(-1), "Every line adds up.");
  const delivered = lines.indexOf("Delivered rows, or hours of priced metrics, by class:", question);
  t.strictSame(
    lines
      .slice(question, delivered)
      .filter((line) => /^clouds /.test(line))
      .map((line) => line.split(/ {2,}/).at(-1)),
    ["0", "0"],
    "the difference is 0 in both currencies",
  );
});

t.test("Ctrl-C before the reconciliation ends the demo with an error", async (t) => {
  const run = onTerminal(["demo", "--exit", "--size", "tiny"], { cols: 80, rows: 24 });
  await until("it gathers", () => run.lines().some((line) => line.includes("gathering")));
  run.press("\u0003");
  t.equal(await run.ended, 1);
  t.equal(run.lines().at(-1), "The demo was interrupted: nothing was checked.");
  t.notOk(run.lines().some((line) => line.includes("adds up")));
});
