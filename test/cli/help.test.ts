/** `--help`: every option of every command, with its words, within 80 columns. */
import t from "tap";
import { commands } from "../../src/cli/commands.js";
import { commandHelp, programHelp, usageHint } from "../../src/cli/help.js";

const flagsIn = (text: string) => [...new Set(text.match(/--[a-z-]+/g))].sort();

for (const entry of commands) {
  t.test(`${entry.name}: the usage and the list have the same options`, async (t) => {
    const command = await entry.load();
    const [, list = ""] = commandHelp(entry, command).split(`\n${entry.summary}\n\n`);
    const listed = [...list.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = ""]) => flag);
    t.strictSame(listed.sort(), [...flagsIn(command.usage), "--help"].sort());
    t.strictSame(
      Object.keys(command.options)
        .map((name) => `--${name}`)
        .sort(),
      flagsIn(command.usage),
    );
    t.strictSame(
      list.split("\n").filter((line) => line.length > 80),
      [],
    );
  });
}

t.test("a command's help", async (t) => {
  const entry = commands.find(({ name }) => name === "reconcile");
  if (entry === undefined) throw new Error("there is no reconcile");
  const reconcile = await entry.load();
  t.equal(
    commandHelp(entry, reconcile),
    `chargehouse reconcile --config FILE [--tenant NAME]... [--env-file FILE]

${entry.summary}

  --config FILE    the configuration, in YAML
  --env-file FILE  variables for the configuration; .env beside it, if there is
                   one
  --tenant NAME    this tenant alone; may be given again for more; all by
                   default
  --help           show this
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
