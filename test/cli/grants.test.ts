/** `chargehouse grants`: its statements with the engine's own parser, and its effects on a fake server. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as bodyOf } from "node:stream/consumers";
import t, { type Test } from "tap";
import { grants } from "../../src/cli/grants.js";
import { READABLE } from "../../src/clickhouse/reader-rights.js";
import { literal } from "../../src/clickhouse/sql-text.js";
import { engineResponseText, quietClient, startEngine } from "../clickhouse/engine-under-test.js";
import { fixedTenant, openTestStores, temporaryFolder } from "../stores.js";
import { commandIo } from "./command-io.js";

const LIMITS =
  "embedded: { sql_limits: { max_seconds: 20, max_result_rows: 1000, max_result_mib: 2, max_running: 1, max_per_minute: 30 } }";

function command(t: Test, url: string, cluster?: string) {
  const file = join(temporaryFolder(t), "c.yaml");
  const server = (name: string) =>
    fixedTenant(name).replace(
      "embedded:",
      `${url.replace("http", "clickhouse").replace("//", "//admin:s3cret@")}/`,
    );
  const clickhouse = cluster === undefined ? "" : `clickhouse: { cluster: ${cluster} }\n`;
  writeFileSync(
    file,
    `${clickhouse}${LIMITS}\ntenants:${server("acme")}${server("globex")}${fixedTenant("local")}\n`,
  );
  return async (...args: string[]) => {
    const { io, written } = commandIo();
    const failure = await grants.run([...args, "--config", file], io).then(
      (code) => (code === 0 ? "" : `exit ${code}`),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { ...written, failure };
  };
}

const hashOf = (password: string) => createHash("sha256").update(password).digest("hex");

t.test("the grants cover what the views read, and nothing else", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  const found = await engineResponseText(
    client,
    `SELECT DISTINCT arrayJoin(arrayPushBack(extractAll(as_select, 'acme\\\\.\`?(\\\\w+)'), name))
     FROM system.tables WHERE database = 'acme' AND engine = 'View'`,
  );
  t.strictSame([...READABLE].sort(), found.split("\n").sort());
});

t.test("grants prints or applies statements for users", async (t) => {
  const { endpoint } = await startEngine(t);
  const engine = quietClient(t, endpoint);
  /** Returns the kind of a statement according to the engine's parser. */
  const kindOf = async (sql: string) =>
    (await engineResponseText(engine, `EXPLAIN AST ${sql}`)).split(/[ \n]/)[0] ?? "";

  await t.test(
    "statements are printed for each tenant on a server, and the engine's parser accepts them",
    async (t) => {
      const run = command(t, "http://ch-1.example.org:8123");
      const { stdout, stderr, failure } = await run();
      t.equal(failure, "");
      const passwords = [
        ...stderr.matchAll(
          /^The password of (\w+), if the user does not exist yet: (\S{32})\. It is not shown again\.$/gm,
        ),
      ];
      t.strictSame(
        passwords.map(([, user]) => user),
        ["acme_bi", "globex_bi"],
      );
      const [acme = "", globex = ""] = passwords.map(([, , password]) => password ?? "");
      t.not(acme, globex);
      t.notOk(stdout.includes(acme) || stdout.includes(globex), "the output has only hashes of passwords");
      const [title, ...lines] = (stdout.split("-- Tenant globex")[0] ?? "").trim().split("\n");
      t.equal(title, "-- Tenant acme: database acme on http://ch-1.example.org:8123");
      const rights = READABLE.map((name) => `SELECT ON \`acme\`.\`${name}\``).join(", ");
      const role = "`chargehouse_acme_reader`";
      t.strictSame(lines, [
        `CREATE ROLE IF NOT EXISTS ${role};`,
        `GRANT ${rights} TO ${role} WITH REPLACE OPTION;`,
        `CREATE SETTINGS PROFILE IF NOT EXISTS ${role};`,
        `ALTER SETTINGS PROFILE ${role} SETTINGS readonly = 2 CONST, max_execution_time = 20 MIN 1 MAX 20, max_result_rows = 1000 MIN 1 MAX 1000, max_result_bytes = 2097152 MIN 1 MAX 2097152, max_concurrent_queries_for_user = 1 CONST;`,
        `CREATE QUOTA IF NOT EXISTS ${role};`,
        `ALTER QUOTA ${role} KEYED BY user_name FOR INTERVAL 1 minute MAX queries = 30 TO ${role};`,
        `CREATE USER IF NOT EXISTS \`acme_bi\` IDENTIFIED WITH sha256_hash BY '${hashOf(acme)}';`,
        `GRANT ${role} TO \`acme_bi\`;`,
        `ALTER USER \`acme_bi\` DEFAULT DATABASE \`acme\` DEFAULT ROLE ${role} SETTINGS PROFILE ${role};`,
      ]);
      const kinds: string[] = [];
      for (const line of lines) kinds.push(await kindOf(line.replace(/;$/, "")));
      t.strictSame(kinds, [
        "CreateRoleQuery",
        "GrantQuery",
        "CreateSettingsProfileQuery",
        "CreateSettingsProfileQuery",
        "CreateQuotaQuery",
        "CreateQuotaQuery",
        "CreateUserQuery",
        "GrantQuery",
        "CreateUserQuery",
      ]);
      await t.rejects(
        kindOf("GRANT SELECT ON acme.t FROM r"),
        /Syntax error/,
        "the parser refuses invalid statements",
      );
      const set = [...(lines[3] ?? "").matchAll(/(\w+) = /g)].map(([, name]) => literal(name ?? ""));
      const known = await engineResponseText(
        engine,
        `SELECT count() FROM system.settings WHERE name IN (${set.join(", ")})`,
      );
      t.strictSame([set.length, known], [5, "5"], "the settings exist in the engine");
    },
  );

  await t.test("each server of a cluster runs the statements", async (t) => {
    const { stdout, failure } = await command(t, "http://ch-1:8123,ch-2:8123", "main")("--new-passwords");
    t.equal(failure, "");
    const [title, ...lines] = (stdout.split("-- Tenant globex")[0] ?? "").trim().split("\n");
    t.equal(title, "-- Tenant acme: database acme on http://ch-1:8123, http://ch-2:8123");
    t.equal(lines.length, 10);
    for (const line of lines) {
      const parsed = await engineResponseText(
        engine,
        `SELECT formatQuerySingleLine(${literal(line.replace(/;$/, ""))})`,
      );
      t.equal(parsed.split(" ON CLUSTER main").length, 2, parsed.slice(0, 100));
    }
  });

  await t.test("--new-passwords changes the passwords of existing users", async (t) => {
    const { stdout, stderr } = await command(t, "http://ch-1.example.org:8123")(
      "--new-passwords",
      "--tenant",
      "acme",
    );
    const password =
      /^The password of acme_bi: (\S{32})\. It is not shown again\.\n$/.exec(stderr)?.[1] ?? "";
    const changed = `ALTER USER \`acme_bi\` IDENTIFIED WITH sha256_hash BY '${hashOf(password)}'`;
    t.ok(stdout.includes(`\n${changed};\n`));
    t.equal(await kindOf(changed), "CreateUserQuery");
  });

  await t.test("applying creates users once, and repeated runs keep their passwords", async (t) => {
    const applied: string[] = [];
    const users = new Map<string, string>();
    let refused = /nothing/;
    let refusal = "497. DB::Exception: admin: Not enough privileges. (ACCESS_DENIED)";
    const server = createServer(async (request, response) => {
      const body = await bodyOf(request);
      const url = new URL(request.url ?? "/", "http://server");
      if (url.pathname === "/ping") return void response.end("Ok.\n");
      const sql = body === "" ? (url.searchParams.get("query") ?? "") : body;
      const userName = /^SELECT name FROM system\.users/.test(sql)
        ? url.searchParams.get("param_name")
        : undefined;
      t.equal(request.headers.authorization, `Basic ${Buffer.from("admin:s3cret").toString("base64")}`);
      if (userName != null) return void response.end(users.has(userName) ? `{"name":"${userName}"}\n` : "");
      if (refused.test(sql)) {
        response.writeHead(403, { "X-ClickHouse-Exception-Code": refusal.slice(0, 3) });
        return void response.end(`Code: ${refusal} (version 25.8.1)\n`);
      }
      await kindOf(sql);
      applied.push(sql);
      const [, user, hash] = /USER.* `(\w+)` IDENTIFIED WITH sha256_hash BY '(\w+)'$/.exec(sql) ?? [];
      if (user !== undefined) users.set(user, hash ?? "");
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const run = command(t, `http://127.0.0.1:${port}`);
    const shown = (stdout: string) =>
      new Map(
        [...stdout.matchAll(/^\w+ +http\S+ +(\w+) +(\S+)$/gm)].map(([, user = "", password = ""]) => [
          user,
          password,
        ]),
      );

    const first = await run("--apply");
    t.equal(first.failure, "");
    t.equal(applied.length, 18);
    const made = shown(first.stdout);
    t.strictSame([...made.keys()], ["acme_bi", "globex_bi"]);
    for (const [user, password] of made) t.equal(users.get(user), hashOf(password), user);
    t.equal(first.stderr, "Passwords are not shown again.\n");

    applied.splice(0);
    const again = await run("--apply");
    t.strictSame([...shown(again.stdout).values()], ["(unchanged)", "(unchanged)"]);
    t.strictSame(
      applied.filter((sql) => sql.includes("IDENTIFIED")),
      [],
    );
    t.equal(applied.length, 16);

    const renewed = await run("--apply", "--new-passwords", "--tenant", "acme");
    const password = shown(renewed.stdout).get("acme_bi") ?? "";
    t.not(password, made.get("acme_bi"));
    t.equal(users.get("acme_bi"), hashOf(password));
    t.equal(users.get("globex_bi"), hashOf(made.get("globex_bi") ?? ""));

    users.clear();
    refused = /^GRANT `chargehouse_globex_reader`/;
    const failed = await run("--apply");
    t.match(
      failed.failure,
      /^Tenant globex: clickhouse:\/\/admin:\*{8}@127\.0\.0\.1:\d+\/globex refused user admin: .*Not enough privileges.*\nThe user must be allowed to manage access/,
    );
    for (const [user, shownPassword] of shown(failed.stdout))
      t.equal(users.get(user), hashOf(shownPassword), user);
    t.equal(
      shown(failed.stdout).size,
      2,
      "passwords that were set are shown even if a later statement fails",
    );

    refused = /^CREATE ROLE/;
    refusal = "516. DB::Exception: admin: Authentication failed. (AUTHENTICATION_FAILED)";
    const wrong = await run("--apply", "--tenant", "acme");
    t.match(
      wrong.failure,
      /refused user admin: .*Authentication failed.*\nThe user and the password are those of tenants\.acme\.storage\.connection_string\.$/,
    );

    refused = /nothing/;
    const several = command(t, `http://127.0.0.1:9,127.0.0.1:${port}`, "main");
    const other = await several("--apply", "--tenant", "acme");
    t.equal(other.failure, "", "where the first host is down, the next one is used");
    t.equal(/^acme +http\S+, http\S+ +acme_bi +(\S+)$/m.exec(other.stdout)?.[1], "(unchanged)");
  });

  await t.test("embedded stores are refused", async (t) => {
    const { failure } = await command(t, "http://ch-1.example.org:8123")("--tenant", "local");
    t.equal(failure, "The store of tenant local is embedded: embedded.sql_users has its users.");
    // If the engine accepts them some day, they can be tested for real.
    await t.rejects(engine.command({ query: "CREATE ROLE r" }), /no writeable access storage/);
  });
});
