/** Errors of unusable settings and options name the setting or the option. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { backup } from "../../src/cli/backup.js";
import type { Command } from "../../src/cli/command.js";
import { demo } from "../../src/cli/demo.js";
import { explain } from "../../src/cli/explain.js";
import { exportCsv } from "../../src/cli/export.js";
import { grants } from "../../src/cli/grants.js";
import { migrate } from "../../src/cli/migrate.js";
import { moveTenant } from "../../src/cli/move-tenant.js";
import { reconcile } from "../../src/cli/reconcile.js";
import { restore } from "../../src/cli/restore.js";
import { rulesCommand } from "../../src/cli/rules.js";
import { run } from "../../src/cli/run.js";
import { sampleBill } from "../../src/cli/sample-bill.js";
import { serve } from "../../src/cli/serve.js";
import { simulate } from "../../src/cli/simulate.js";
import { token } from "../../src/cli/token.js";
import { errorText } from "../../src/stores/error-text.js";
import { shortTenants } from "../runner/runs.js";
import { temporaryFolder } from "../stores.js";
import { commandIo } from "./command-io.js";

/** Nothing listens on port 9 of loopback. */
const AWAY = "127.0.0.1:9";

function configurations(t: Test) {
  const folder = temporaryFolder(t);
  const fileOf = (name: string, settings: string, storage = "embedded:acme") => {
    const file = join(folder, `${name}.yaml`);
    const tenants = shortTenants(["acme"]).replace("embedded:acme", storage);
    const own = settings.includes("data_dir:") ? "" : `data_dir: ${folder}/data\n`;
    writeFileSync(file, `${own}logging: { level: fatal }\n${settings}\n${tenants}`);
    return file;
  };
  return { folder, fileOf };
}

/** Returns the error message of a command. */
async function refusal(command: Command, args: readonly string[]): Promise<string> {
  const { io } = commandIo();
  return await command.run(args, io).then(
    (code) => `exit ${code}`,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

t.test("an unreachable Postgres is reported with its setting", async (t) => {
  const { fileOf } = configurations(t);
  const file = fileOf("c", `postgres: { connection_string: "postgres://u:s3cret@${AWAY}/state" }`);
  for (const [name, command, args] of [
    ["token list", token, ["list"]],
    ["reconcile", reconcile, []],
    ["run", run, []],
    ["migrate", migrate, []],
    ["migrate --status", migrate, ["--status"]],
    ["export", exportCsv, ["--tenant", "acme"]],
    ["serve", serve, []],
  ] as const)
    t.equal(
      await refusal(command, [...args, "--config", file]),
      `postgres.connection_string: postgres://u:********@${AWAY}/state cannot be used: connect ECONNREFUSED ${AWAY}`,
      name,
    );
});

t.test("an unreachable ClickHouse of a tenant is reported with its setting", async (t) => {
  const { fileOf } = configurations(t);
  const file = fileOf("c", "", `clickhouse://u:s3cret@${AWAY}/acme`);
  const reason = `tenants.acme.storage.connection_string: clickhouse://u:********@${AWAY}/acme cannot be used: connect ECONNREFUSED ${AWAY}`;
  const explained = ["--tenant", "acme", "--dimension", "4", "--date", "2026-01-01"];
  for (const [name, command, args] of [
    ["reconcile", reconcile, []],
    ["migrate", migrate, []],
    ["migrate --status", migrate, ["--status"]],
    ["export", exportCsv, ["--tenant", "acme"]],
    ["explain", explain, explained],
    ["rules", rulesCommand, []],
  ] as const)
    t.equal(await refusal(command, [...args, "--config", file]), reason, name);

  const { io, written } = commandIo();
  t.equal(await run.run(["--config", file], io), 1);
  t.equal(written.stdout, `acme  FAILED: no days gathered\n  ${reason}\n`, "run reports it");

  const here = fileOf("here", "");
  t.equal(await run.run(["--config", here], commandIo().io), 0);
  const moved = await refusal(moveTenant, ["acme", "--config", here, "--to-config", file]);
  t.equal(moved, reason, "move-tenant reports it for the new configuration");
});

t.test("a server that is no ClickHouse, or refuses the password or TLS, is reported", async (t) => {
  const { fileOf } = configurations(t);
  let code = "";
  const server = createHttpServer((_, response) => {
    if (code === "") return void response.writeHead(400).end("Port 9000 is for clickhouse-client program\n");
    response.writeHead(403, { "X-ClickHouse-Exception-Code": code });
    response.end("Code: 516. DB::Exception: u: Authentication failed. (AUTHENTICATION_FAILED)\n");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const reason = async (scheme: string) => {
    const file = fileOf("c", "", `${scheme}://u:s3cret@127.0.0.1:${port}/acme`);
    const message = await refusal(reconcile, ["--config", file]);
    const prefix = `tenants.acme.storage.connection_string: ${scheme}://u:********@127.0.0.1:${port}/acme cannot be used: `;
    t.equal(message.slice(0, prefix.length), prefix);
    return message.slice(prefix.length).trim();
  };
  t.equal(await reason("clickhouse"), "Port 9000 is for clickhouse-client program");
  t.match(await reason("clickhouses"), /EPROTO .*wrong version number/);
  code = "516";
  t.match(await reason("clickhouse"), /^u: Authentication failed\./);
});

t.test("grants reports a server that is down, not missing rights", async (t) => {
  const { fileOf } = configurations(t);
  const away = fileOf("away", "", `clickhouse://u:s3cret@${AWAY}/acme`);
  t.equal(
    await refusal(grants, ["--apply", "--config", away]),
    `tenants.acme.storage.connection_string: clickhouse://u:********@${AWAY}/acme cannot be used: none of the hosts can be used (http://${AWAY}: connect ECONNREFUSED ${AWAY})`,
  );
});

t.test("a port in use is reported with its setting", async (t) => {
  const { fileOf } = configurations(t);
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const inUse = `Port ${port} on 127.0.0.1 is in use:`;
  const api = fileOf("api", `api: { port: ${port} }`);
  t.equal(await refusal(serve, ["--config", api]), `${inUse} choose another with api.port, or see api.host`);
  const worker = fileOf("worker", `api: { worker_port: ${port} }`);
  t.equal(
    await refusal(serve, ["--mode", "worker", "--config", worker]),
    `${inUse} choose another with api.worker_port, or see api.host`,
  );
  t.equal(
    await refusal(simulate, ["--size", "tiny", "--port", String(port)]),
    `${inUse} choose others with --port`,
  );
});

t.test("folders and files that cannot be written are reported", async (t) => {
  const { folder, fileOf } = configurations(t);
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  const missing = join(folder, "no", "file");
  const config = fileOf("c", "");
  const noEntry = `cannot be written: ENOENT: no such file or directory, open '${missing}'`;
  t.equal(
    await refusal(run, ["--config", fileOf("dir", `data_dir: ${file}`)]),
    `data_dir: ${file} cannot be used: EEXIST: file already exists, mkdir '${file}'`,
  );
  t.equal(
    await refusal(exportCsv, ["--config", config, "--tenant", "acme", "--output", missing]),
    `--output: ${missing} ${noEntry}`,
  );
  const backupFolder = join(folder, "backup");
  t.equal(await refusal(backup, [backupFolder, "--config", config]), "exit 0");
  t.equal(
    await refusal(restore, [backupFolder, "--config", fileOf("dir", `data_dir: ${file}`)]),
    `data_dir: ${file} cannot be used: EEXIST: file already exists, mkdir '${file}'`,
  );
  t.equal(
    await refusal(simulate, ["--size", "tiny", "--port", "0", "--write-config", missing]),
    `--write-config: ${missing} ${noEntry}`,
  );
  t.match(
    await refusal(sampleBill, ["--folder", file]),
    /^--folder: \S+a-file cannot be written: ENOTDIR: not a directory, mkdir /,
  );
  t.equal(
    await refusal(demo, ["--exit", "--data-dir", file]),
    `--data-dir: ${file} cannot be written: EEXIST: file already exists, mkdir '${file}'`,
  );
});

t.test("an error of several addresses has the error of each", async (t) => {
  const socket = connect({
    host: "two.example",
    port: 9,
    lookup: (_host, _options, done) =>
      done(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "127.0.0.2", family: 4 },
      ]),
  });
  const [error] = await once(socket, "error").catch((reason: unknown) => [reason]);
  t.equal(error.message, "", "Node.js has no message");
  t.equal(errorText(error), "connect ECONNREFUSED 127.0.0.1:9; connect ECONNREFUSED 127.0.0.2:9");
});
