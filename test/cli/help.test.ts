/** `--help` shows every option of every command, with its description, within 80 columns. */
import t from "tap";
import { commands } from "../../src/cli/commands.js";
import { commandHelp, programHelp, usageHint } from "../../src/cli/help.js";
import { onTerminal } from "./terminal.js";

const flagsIn = (text: string) => [...new Set(text.match(/--[a-z-]+/g))].sort();

for (const entry of commands) {
  t.test(`${entry.name}: the usage and the list have the same options`, async (t) => {
    const command = await entry.load();
    const help = commandHelp(entry, command);
    const [usage, , list = ""] = help.split("\n\n");
    t.equal(usage?.replaceAll(/\s+/g, " "), `chargehouse ${command.usage}`, "the usage has all words");
    const listed = [...list.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = ""]) => flag);
    t.strictSame(listed.sort(), [...flagsIn(command.usage), "--help"].sort());
    t.strictSame(
      Object.keys(command.options)
        .map((name) => `--${name}`)
        .sort(),
      flagsIn(command.usage),
    );
    for (const text of [help, usageHint(entry, command)])
      t.strictSame(
        text.split("\n").filter((line) => line.length > 80),
        [],
      );
  });
}

t.test("a long usage is broken between options, never within one", async (t) => {
  const command = {
    usage: "check --config FILE [--connect [--tenant NAME]...] [--fault KIND[,NAME=VALUE]...]...",
    options: {},
  };
  const entry = { name: "check", summary: "check it", load: () => Promise.reject(new Error("not loaded")) };
  t.equal(
    usageHint(entry, { ...command, run: async () => 0 }),
    `chargehouse check --config FILE [--connect [--tenant NAME]...]
  [--fault KIND[,NAME=VALUE]...]...
chargehouse check --help shows what the options mean.
`,
  );
});

t.test("on a terminal of 80 columns no line of a command's help is broken by the terminal", async (t) => {
  for (const name of ["explain", "simulate"]) {
    const run = onTerminal([name, "--help"], { cols: 80, rows: 24 });
    t.equal(await run.ended, 0);
    const entry = commands.find((each) => each.name === name);
    if (entry === undefined) throw new Error(`there is no ${name}`);
    t.strictSame(
      run.lines(),
      commandHelp(entry, await entry.load())
        .trimEnd()
        .split("\n"),
    );
  }
});

t.test("the help of a command has its usage, summary and options", async (t) => {
  const entry = commands.find(({ name }) => name === "reconcile");
  if (entry === undefined) throw new Error("there is no reconcile");
  const reconcile = await entry.load();
  t.equal(
    commandHelp(entry, reconcile),
    `chargehouse reconcile --config FILE [--tenant NAME]... [--env-file FILE]

print billing, chargebacks and their difference per tenant, day and currency;
fail unless all are 0

  --config FILE    the configuration, in YAML
  --env-file FILE  variables for the configuration; .env beside it, if there is
                   one
  --tenant NAME    only this tenant; may be repeated; all by default
  --help           show this help
`,
  );
  t.equal(
    usageHint(entry, reconcile),
    "chargehouse reconcile --config FILE [--tenant NAME]... [--env-file FILE]\n" +
      "chargehouse reconcile --help shows what the options mean.\n",
  );
});

t.test("the program's help has every command", async (t) => {
  const named = [...programHelp(commands).matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name]) => name);
  t.strictSame(
    named,
    commands.map(({ name }) => name),
  );
});
