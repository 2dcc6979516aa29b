/** The amounts of rules, as text and as JSON. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { rulesCommand } from "../../src/cli/rules.js";
import { openStores } from "../../src/stores/open-stores.js";
import { insertBilling, insertChargebacks } from "../http/service.js";
import { fixedTenant, temporaryFolder, testConfig, testLogger } from "../stores.js";
import { commandIo } from "./command-io.js";
import { onTerminal } from "./terminal.js";

const allocation = `
    allocation:
      rules:
        - { name: kept, where: { product_type: Tax }, allocation: keep }
        - { name: support, where: { product_type: Support }, split: [{ by: cost }] }
        - { name: idle, where: { env_id: x }, split: [{ by: nobody }] }`;

t.test("chargehouse rules", async (t) => {
  const folder = temporaryFolder(t);
  const yaml = `data_dir: ${folder}/data\nlogging: { level: fatal }\ntenants:${fixedTenant("acme")}${allocation}${fixedTenant("empty")}\n`;
  const file = join(folder, "chargehouse.yaml");
  writeFileSync(file, yaml);
  const stores = await openStores({ config: testConfig(yaml, folder), logger: testLogger });
  const timestamp = "2026-03-01T00:00:00Z";
  const line = (rule: string, product_type: string, amount: string, currency = "USD") => ({
    bill: { timestamp, rule, product_type, total_cost: amount, currency },
    row: { timestamp, rule, product_type, amount, currency },
  });
  const byCost = { allocation_method: "cost_ratio", allocation_detail: "cost_ratio_allocation" };
  const lines = [
    line("support", "Support", "10"),
    line("support", "Support", "2.5", "EUR"),
    line("kept", "Tax", "1.25"),
    line("old", "x", "4"),
    line("", "VM\u001b[31m", "-30"),
    line("", "Base", "100", "EUR"),
  ];
  await insertBilling(
    stores,
    "acme",
    lines.map(({ bill }) => bill),
  );
  await insertChargebacks(
    stores,
    "acme",
    lines.map(({ row }) => ({ ...row, ...(row.rule === "support" && { ...byCost, metric: "cost" }) })),
  );
  const { client } = await stores.tenant("acme");
  await client.insert({
    table: "usage",
    format: "JSONEachRow",
    values: [
      { timestamp, metric: "cost", resource_id: "EUR", identity_id: "sa-1", micro_units: "1000000" },
      { timestamp, metric: "cost", resource_id: "USD", identity_id: "sa-1", micro_units: "1000000" },
    ],
  });
  await stores.close();
  const call = async (...args: string[]) => {
    const { io, written } = commandIo();
    const code = await rulesCommand.run(["--config", file, ...args], io);
    t.equal(code, 0, args.join(" "));
    return written.stdout;
  };
  const days = ["--start", "2026-03-01", "--end", "2026-03-01"];

  const shown = [
    "acme, 2026-03-01 to 2026-03-01",
    "RULE                                   CURRENCY  LINES  AMOUNT",
    "kept (keep)                            USD           1    1.25",
    "  usage_ratio: usage_ratio_allocation  USD                1.25",
    "support (stage 2)                      EUR           1     2.5",
    "  cost_ratio: cost_ratio_allocation    EUR                 2.5",
    "support (stage 2)                      USD           1      10",
    "  cost_ratio: cost_ratio_allocation    USD                  10",
    "old (no longer configured)             USD           1       4",
    "  usage_ratio: usage_ratio_allocation  USD                   4",
    "product Base                           EUR           1     100",
    "  usage_ratio: usage_ratio_allocation  EUR                 100",
    "product VM\ufffd[31m                        USD           1     -30",
    "  usage_ratio: usage_ratio_allocation  USD                 -30",
    "Rules without lines: idle",
    "Rule support split 2.5 EUR by weights that cover less than 1 % of the allocated",
    "cost: a few identities pay what all were perhaps meant to share.",
  ];

  await t.test("rules fit a terminal of 80 columns, for every tenant", async (t) => {
    const terminal = onTerminal(["rules", "--config", file, ...days], { cols: 80, rows: 40 });
    t.equal(await terminal.ended, 0);
    t.strictSame(terminal.lines(), [...shown, "", "empty, 2026-03-01 to 2026-03-01", "No published lines."]);
  });

  await t.test("rules are printed as JSON for the named tenants", async (t) => {
    const found = JSON.parse(await call("--tenant", "acme", "--json", ...days));
    t.strictSame(Object.keys(found), ["acme"]);
    t.strictSame(
      found.acme.rules.map(({ name, took_nothing }: Record<string, unknown>) => [name, took_nothing]),
      [
        ["kept", false],
        ["support", false],
        ["idle", true],
        ["old", false],
      ],
    );
  });

  await t.test("invalid days are refused with the names of the options", async (t) => {
    const { io } = commandIo();
    await t.rejects(
      rulesCommand.run(["--config", file, "--start", "2026-03-02", "--end", "2026-03-01"], io),
      {
        name: "UsageError",
        message: "--start must not be later than --end",
      },
    );
  });
});
