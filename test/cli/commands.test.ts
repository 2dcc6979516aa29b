/** Commands as users call them: exit codes, output and effects. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Command } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands.js";
import { explain } from "../../src/cli/explain.js";
import { exportCsv } from "../../src/cli/export.js";
import { migrate } from "../../src/cli/migrate.js";
import { reconcile } from "../../src/cli/reconcile.js";
import { run } from "../../src/cli/run.js";
import { serve } from "../../src/cli/serve.js";
import { addDays, dayOf } from "../../src/common/days.js";
import { dayText } from "../../src/common/figures.js";
import { programArguments } from "../../src/common/program.js";
import { projectRoot } from "../../src/common/project.js";
import { defaultExportColumns } from "../../src/export/columns.js";
import { type OpenedStores, openStores } from "../../src/stores/open-stores.js";
import { portOfSocket, startEngine } from "../clickhouse/engine-under-test.js";
import { startTestPostgres } from "../embedded-postgres/temporary.js";
import { freePort } from "../free-port.js";
import { holds } from "../holds.js";
import { shortTenants } from "../runner/runs.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { commandIo } from "./command-io.js";

/** Runs the program in a process of its own and returns its output. */
async function program(args: readonly string[]) {
  const main = programArguments("../../src/main.js", import.meta.url);
  const child = spawn(process.execPath, [...main, ...args], { env: { ...process.env, NODE_OPTIONS: "" } });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const [exit] = await once(child, "close");
  return { exit, text };
}

t.test("the program has exit codes for success, failure and wrong usage", async (t) => {
  const folder = temporaryFolder(t);
  const fileOf = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const valid = fileOf("valid.yaml", shortTenants(["acme"]));
  const wrong = fileOf("wrong.yaml", "apii: {}\napi: { port: 0 }\n");
  await Promise.all(
    (
      [
        [["--version"], 0, /^0\.0\.0-dev\n$/],
        [["frobnicate"], 2, /unknown command "frobnicate"/],
        [["run", "--help"], 0, /^chargehouse run .*\n(?: {2}\[.*\n)*\n.*\n\n {2}--config FILE /],
        [["run", "--confg", valid], 2, /^Unknown option '--confg'[\s\S]*\nchargehouse run --help shows what/],
        [["check-config", "--config", valid], 0, /tenants:\n {2}acme:[\s\S]*The configuration is valid/],
        [["check-config", "--config", wrong], 2, /:1: apii: unknown key[\s\S]*:2: api\.port: must be/],
      ] as const
    ).map(async ([args, code, expected]) => {
      const { exit, text } = await program(args);
      t.equal(exit, code, args.join(" "));
      holds(t, text, expected, args.join(" "));
    }),
  );
});

t.test("the page of commands has every command with every option", async (t) => {
  const page = readFileSync(join(projectRoot(), "docs/reference/commands.md"), "utf8");
  for (const { name, load } of commands) {
    const { usage } = await load();
    const shown = usage
      .replace(" --config FILE", "")
      .replace(" [--env-file FILE]", "")
      .replaceAll("...", "…")
      .replaceAll(/\s+/g, " ")
      .replaceAll("|", "\\|");
    t.ok(page.includes(`| \`${shown}\` |`), `${name}: ${shown}`);
  }
  t.equal(page.match(/^\| `/gm)?.length, commands.length, "the page has no other commands");
});

t.test("commands on the stores", async (t) => {
  const folder = temporaryFolder(t);
  // Servers, because each call would have to start embedded engines of its own.
  const { host, port, user, password, database } = (await startTestPostgres(t)).connection;
  const { endpoint } = await startEngine(t);
  const server = `clickhouse://${endpoint.username}:${endpoint.password}@127.0.0.1:${await portOfSocket(t, endpoint.socketPath)}`;
  const onServer = (tenants: readonly string[]) =>
    shortTenants(tenants).replaceAll("embedded:", `${server}/`);
  const common = `data_dir: ${folder}/data\nlogging: { level: fatal }\npostgres: { connection_string: "postgres://${user}:${password}@/${database}?host=${host}&port=${port}" }\n`;
  const yaml = `${common}${onServer(["acme", "globex"])}`;
  const away = shortTenants(["away"]).replace("embedded:away", "clickhouse://u:p@127.0.0.1:9/away");
  const config = join(folder, "chargehouse.yaml");
  writeFileSync(config, yaml);
  const withAway = join(folder, "away.yaml");
  writeFileSync(withAway, yaml + away.replace("tenants:", ""));
  const call = async (command: Command, args: readonly string[] = [], file = config) => {
    const { io, written } = commandIo();
    const code = await command.run(["--config", file, ...args], io);
    return { code, ...written };
  };
  const inStores = async <Result>(work: (stores: OpenedStores) => Promise<Result>) => {
    const stores = await openStores({ config: testConfig(yaml, folder), logger: testLogger });
    return await work(stores).finally(() => stores.close());
  };

  await t.test("run does one cycle of the named tenants, and of no others", async (t) => {
    await inStores(({ postgres }) =>
      postgres.query(`INSERT INTO tenants (tenant_name, tenant_id, ecosystem, suspended_at, suspension_reason) VALUES
        ('acme', 'acme', 'e', now(), 'a cause'), ('globex', 'globex', 'e', now(), 'a cause')`),
    );
    const { code, stdout } = await call(run, ["--tenant", "acme"]);
    t.strictSame([code, stdout], [0, "acme  7 days published, 7 rows\n"]);
    await inStores(async ({ postgres, tenant }) => {
      const state = await postgres.query(
        "SELECT tenant_name, suspended_at IS NOT NULL AS suspended FROM tenants ORDER BY 1",
      );
      t.same(state.rows, [
        { tenant_name: "acme", suspended: false },
        { tenant_name: "globex", suspended: true },
      ]);
      const { client } = await tenant("globex");
      const rows = await client.query({ query: "SELECT 1 FROM chargebacks", format: "JSONEachRow" });
      t.same(await rows.json(), []);
    });
    await t.rejects(call(run, ["--tenant", "nobody"]), {
      name: "UsageError",
      message: /unknown tenant "nobody"/,
    });
  });

  await t.test("reconcile exits with 3 and says so if there is nothing to prove", async (t) => {
    const { code, stdout } = await call(reconcile, ["--tenant", "globex"]);
    t.strictSame([code, stdout], [3, "Nothing to prove: globex has no published days.\n"]);
    const both = await call(reconcile);
    t.equal(both.code, 3);
    t.match(
      both.stdout,
      /acme .*\nEvery line adds up\.\nNothing to prove: globex has no published days\.\n$/,
    );
  });

  await t.test("run --from --to gathers whole days, including both", async (t) => {
    const day = (age: number) => addDays(dayOf(new Date()), -age);
    const [from, to] = [day(4), day(3)];
    t.equal((await call(run, ["--tenant", "globex", "--from", from, "--to", to])).code, 0);
    const { stdout } = await call(reconcile, ["--tenant", "globex"]);
    t.match(stdout, new RegExp(`globex {2}${from} .*\\n *globex {2}${to} .*\\n *globex {2}2 days`));
  });

  await t.test("reconcile exits with 0 while every line adds up, with each day's sums", async (t) => {
    const { code, stdout } = await call(reconcile, ["--tenant", "acme"]);
    t.equal(code, 0);
    const lines = stdout.split("\n");
    t.strictSame(lines.slice(lines.findIndex((line) => line.includes("7 days"))), [
      "acme    7 days          7     7         50.4             50.4     0",
      "",
      "Delivered rows, or hours of priced metrics, by class:",
      "TENANT  CLASS              ROWS  COST USD",
      "acme    delivered           168      50.4",
      "acme    charged             168      50.4",
      "acme    not accounted for     0         0",
      "Every line adds up.",
      "",
    ]);
  });

  await t.test("explain shows an amount within 80 columns, with the API's numbers", async (t) => {
    const date = addDays(dayOf(new Date()), -4);
    const id = await inStores(async ({ tenant }) => {
      const { client } = await tenant("acme");
      const found = await client.query({
        query: "SELECT dimension_id FROM dimensions",
        format: "JSONEachRow",
      });
      return String((await found.json<{ dimension_id: string }>())[0]?.dimension_id);
    });
    const args = ["--tenant", "acme", "--dimension", id, "--date", date];
    const explained = await call(explain, args);
    t.equal(explained.code, 0);
    const lines = explained.stdout.split("\n");
    t.strictSame(
      lines.filter((line) => line.length > 80),
      [],
    );
    t.equal(
      lines.slice(0, 2).join(" "),
      `Nobody pays 7.20 USD for Compute of cluster-acme on ${dayText(date)} because no identity is known that could pay it (the rule for COMPUTE).`,
    );
    t.strictSame(lines.slice(2, 8), [
      "",
      "amount      7.2 USD to UNALLOCATED (Unallocated), for COMPUTE of cluster-acme",
      "how         terminal, no_identities_located",
      `line        7.2 USD = 72 × 0.1; ${date}T00:00:00Z, daily, 1 line of the bill`,
      "split       72000 ticks of 0.0001 plus 0; 72000 of the ticks are for this",
      "            component; the total weight is 1",
    ]);
    t.strictSame(lines.slice(lines.indexOf("Tiers of component 0")), [
      "Tiers of component 0",
      "TIER  KIND      OUTCOME     SOURCES",
      "0     even      empty sets  metrics_derived, resource_active",
      "1     terminal  used",
      "",
      "Who shares it: 1, page 1 of 1",
      "IDENTITY     SHARE     WEIGHT  UP TO  TICKS  AMOUNT",
      "UNALLOCATED  ████████       1      1  72000     7.2",
      "",
    ]);
    const { code, stdout } = await call(explain, [...args, "--json"]);
    const { row, run: publishedBy, published_at } = JSON.parse(stdout);
    holds(
      t,
      { code, row, publishedBy, published_at },
      {
        code: 0,
        row: { amount: "7.2" },
        published_at: /^\d{4}-.*Z$/,
        publishedBy: { trigger: "cli", status: "completed", tenant_name: "acme" },
      },
    );
    for (const [changed, message] of [
      [["--tenant", "acme"], /^--date DAY is required$/],
      [[...args, "--page-size", "0"], /^--page-size must be an integer from 1 to 1000, not "0"$/],
      [[...args, "--timestamp", date], /^--timestamp must be an instant/],
      [[...args, "--date", "2026-02-30"], /^--date must be a day/],
    ] as const)
      await t.rejects(call(explain, changed), { name: "UsageError", message });
    for (const [changed, message] of [
      [["--dimension", "7"], /^Tenant acme has no chargeback dimension 7\.$/],
      [["--date", "2020-01-01"], /^No chargebacks of 2020-01-01 are published\.$/],
      [["--component", "1"], /has no such row on /],
    ] as const)
      await t.rejects(call(explain, [...args, ...changed]), { name: "CommandError", message, exitCode: 1 });
  });

  await t.test("explain selects an amount by names, and lists the amounts if several match", async (t) => {
    const shared = join(folder, "shared.yaml");
    const identities =
      "identity_source: { source: static, static_identities: [{ identity_id: a-1, display_name: Anna }, { identity_id: b-1 }] }";
    writeFileSync(
      shared,
      `${common}${onServer(["duo"]).replace("      cost_types:", `      ${identities}\n      cost_types:`)}`,
    );
    t.equal((await call(run, [], shared)).code, 0);
    const date = addDays(dayOf(new Date()), -4);
    const args = ["--tenant", "duo", "--date", date];
    const listed = async (...more: string[]) => {
      const { stdout } = await call(explain, [...args, ...more, "--json"], shared);
      return JSON.parse(stdout);
    };
    const { items, ...rest } = await listed();
    t.strictSame(rest, { total: 2, dimensions: 2, page: 1, page_size: 20 });
    t.strictSame(
      items
        .map((each: Record<string, string>) => [
          each.identity_id,
          each.product_type,
          each.amount,
          each.currency,
        ])
        .sort(),
      [
        ["a-1", "COMPUTE", "3.6", "USD"],
        ["b-1", "COMPUTE", "3.6", "USD"],
      ],
    );
    const { stdout } = await call(explain, args, shared);
    const [head, ...lines] = stdout.split("\n");
    t.equal(head?.replaceAll(/ +/g, " "), "DIMENSION IDENTITY RESOURCE PRODUCT COST TYPE AMOUNT USD");
    t.match(
      lines[0],
      new RegExp(`^${items[0].dimension_id} +${items[0].identity_id} +cluster-duo +COMPUTE +shared +3\\.6$`),
    );
    t.strictSame(lines.slice(2), [
      "",
      "Rows 1 to 2 of 2, the largest amounts first. --dimension ID explains one.",
      "",
    ]);
    t.match(
      (await call(explain, [...args, "--page-size", "1", "--page", "2"], shared)).stdout,
      /\n\nRows 2 to 2 of 2, the largest amounts first\. --dimension ID explains one\.\n$/,
    );
    t.match(
      (await call(explain, [...args, "--page-size", "1"], shared)).stdout,
      /\n\nRows 1 to 1 of 2, the largest amounts first\. --page 2 shows more\. --dimension ID\nexplains one\.\n$/,
    );
    t.equal(
      (await listed("--product", "COMPUTE", "--resource", "cluster-duo")).total,
      2,
      "several have these names",
    );
    const of = (id: string) =>
      items.find((each: { identity_id: string }) => each.identity_id === id).dimension_id;
    const explained = await call(explain, [...args, "--dimension", String(of("a-1"))], shared);
    for (const names of [
      ["--identity", "Anna"],
      ["--identity", "a-1", "--product", "COMPUTE"],
    ])
      t.equal((await call(explain, [...args, ...names], shared)).stdout, explained.stdout, names.join(" "));
    t.equal((await listed("--identity", "b-1")).dimension_id, of("b-1"));
    for (const [more, error] of [
      [
        ["--identity", "nobody"],
        { name: "CommandError", message: `No chargeback on ${date} has these names.` },
      ],
      [
        ["--identity", "a-1", "--currency", "EUR"],
        { name: "CommandError", message: `No chargeback on ${date} has these names.` },
      ],
      [
        ["--identity", "a-1", "--dimension", "7"],
        {
          name: "UsageError",
          message: "--dimension cannot be given with --identity, --resource or --product",
        },
      ],
    ] as const)
      await t.rejects(call(explain, [...args, ...more], shared), error);
  });

  await t.test("export writes the API's CSV", async (t) => {
    const { code, stdout } = await call(exportCsv, ["--tenant", "acme", "--columns", "identity_id,amount"]);
    t.same([code, stdout], [0, `identity_id,amount\n${"UNALLOCATED,7.2\n".repeat(7)}`]);
    const marked = await call(exportCsv, ["--tenant", "acme", "--columns", "identity_id,amount", "--bom"]);
    t.same([marked.code, marked.stdout], [0, `\uFEFF${stdout}`]);
    const usual = async () => (await call(exportCsv, ["--tenant", "acme"])).stdout.split("\n")[0];
    t.equal(await usual(), defaultExportColumns.join());
    await inStores(async ({ tenant }) => {
      const { client } = await tenant("acme");
      const inEuro = "SELECT * REPLACE ('EUR' AS currency) FROM chargebacks LIMIT 1";
      await client.command({ query: `INSERT INTO chargebacks ${inEuro}` });
    });
    t.equal(await usual(), defaultExportColumns.join().replace(",amount,", ",amount,currency,"));
    await inStores(async ({ tenant }) => {
      const { client } = await tenant("acme");
      await client.command({ query: "DELETE FROM chargebacks WHERE currency = 'EUR'" });
    });
  });

  await t.test("migrate --status shows every revision of every store", async (t) => {
    const { code, stdout } = await call(migrate, ["--status"]);
    t.equal(code, 0);
    t.match(stdout, /^postgres +0001 .* applied +\d{4}-/m);
    t.match(stdout, /^clickhouse\/globex +0001 .* applied +\d{4}-/m);
    t.notMatch(stdout, /pending/);
  });

  await t.test("commands do not open the port for SQL clients", async (t) => {
    const withPort = join(folder, "sql-port.yaml");
    const embedded = `embedded: { sql_port: ${await freePort()}, sql_user: bi, sql_password: "a password of the test" }\n`;
    writeFileSync(withPort, `data_dir: ${folder}/embedded\n${embedded}${shortTenants(["acme"])}`);
    for (const name of ["run", "reconcile", "migrate"]) {
      const { exit, text } = await program([name, "--config", withPort]);
      t.equal(exit, 0, name);
      t.notMatch(text, /SQL port/, name);
    }
  });

  await t.test("reconcile exits with 1 if a line does not add up", async (t) => {
    await inStores(async ({ tenant }) => {
      const { client } = await tenant("acme");
      await client.command({ query: "INSERT INTO chargebacks SELECT * FROM chargebacks LIMIT 1" });
    });
    const { code, stdout } = await call(reconcile);
    t.equal(code, 1);
    t.match(stdout, /acme {4}7 days +7 +8 +50\.4 +57\.6 +7\.2\n/);
  });

  await t.test("run exits with 1 if a tenant fails, and runs the others", async (t) => {
    const { code } = await call(run, [], withAway);
    t.equal(code, 1);
    t.match((await call(reconcile, ["--tenant", "globex"])).stdout, /globex {2}7 days/);
  });

  await t.test("a refused configuration ends any command with 2", async (t) => {
    writeFileSync(config, "tenants: {acme: {}}");
    for (const [name, command] of Object.entries({ run, reconcile, migrate, serve }))
      t.equal(await call(command).catch((error) => error.exitCode), 2, name);
  });

  await t.test("unknown arguments end a command with its usage", async (t) => {
    for (const [command, args, message] of [
      [run, ["--tenants", "acme"], /--tenants/],
      [run, ["--from", "2026-01-01"], /--from and --to go together/],
      [run, ["--from", "2026-02-30", "--to", "2026-03-01"], /--from must be a day/],
      [
        run,
        ["--from", "1969-12-31", "--to", "2026-03-01"],
        /--from must be a day from 1970-01-01 to 2105-12-31, not 1969-12-31/,
      ],
      [
        run,
        ["--from", "2026-03-01", "--to", "2106-01-01"],
        /--to must be a day from 1970-01-01 to 2105-12-31, not 2106-01-01/,
      ],
      [serve, ["--mode", "none"], /--mode must be one of api, worker, both/],
      [exportCsv, ["--tenant", "acme", "--columns", "amonut"], /unknown column "amonut"/],
    ] as const) {
      await t.rejects(call(command, args), { name: "UsageError", message });
    }
    await t.rejects(run.run([], commandIo().io), {
      name: "UsageError",
      message: "--config FILE is required",
    });
  });
});
