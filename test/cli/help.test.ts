/** `--help`: every option of every command, with its words, within 80 columns. */
import t from "tap";
import { commands } from "../../src/cli/commands.js";
import { commandHelp, programHelp, usageHint } from "../../src/cli/help.js";

const flagsIn = (text: string) => [...new Set(text.match(/--[a-z-]+/g))].sort();

for (const command of commands) {
  t.test(`${command.name}: the usage and the list have the same options`, async (t) => {
    const [, list = ""] = commandHelp(command).split(`\n${command.summary}\n\n`);
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
  const reconcile = commands.find(({ name }) => name === "reconcile");
  if (reconcile === undefined) throw new Error("there is no reconcile");
  t.equal(
    commandHelp(reconcile),
    `chargehouse reconcile --config FILE [--tenant NAME]... [--env-file FILE]

${reconcile.summary}

  --config FILE    the configuration, in YAML
  --env-file FILE  variables for the configuration; .env beside it, if there is
                   one
  --tenant NAME    this tenant alone; may be given again for more; all by
                   default
  --help           show this
`,
  );
  t.equal(
    usageHint(reconcile),
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
