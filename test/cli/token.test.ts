import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkConfig } from "../../src/cli/check-config.js";
import type { Command } from "../../src/cli/command.js";
import { serve } from "../../src/cli/serve.js";
import { token } from "../../src/cli/token.js";
import { certificateFiles, first, renewed } from "../certificates.js";
import { shortTenants } from "../runner/runs.js";
import { temporaryFolder } from "../stores.js";
import { commandIo } from "./command-io.js";

t.test("chargehouse token", async (t) => {
  const folder = temporaryFolder(t);
  const fileOf = (name: string, api: string) => {
    const file = join(folder, name);
    const yaml = `data_dir: ${folder}/data\nlogging: { level: fatal }\napi: ${api}\n`;
    writeFileSync(file, `${yaml}${shortTenants(["acme", "globex"])}`);
    return file;
  };
  const config = fileOf("c.yaml", "{ auth: tokens }");
  const call = async (args: readonly string[], command: Command = token, file = config) => {
    const { io, written } = commandIo();
    const code = await command.run([...args, "--config", file], io);
    return { code, ...written };
  };
  const create = ["create", "--name", "bi", "--scope", "read"];

  await t.test("invalid arguments are refused before a store is opened", async (t) => {
    for (const [args, message] of [
      [[], "token needs one of create, list, revoke"],
      [["make"], "token needs one of create, list, revoke"],
      [["constructor"], "token needs one of create, list, revoke"],
      [["list", "all"], "token needs one of create, list, revoke"],
      [["create"], "--name must be 1 to 100 letters, digits, `.`, `_`, `@` and `-`"],
      [["create", "--name", "a b"], /^--name must be/],
      [["create", "--name", "bi"], "--scope must be one of read, tags, assign, run, admin"],
      [[...create, "--scope", "write"], "--scope must be one of read, tags, assign, run, admin"],
      [create, "one of --tenant NAME and --every-tenant is required"],
      [[...create, "--tenant", "acme", "--every-tenant"], "--tenant and --every-tenant exclude each other"],
      [[...create, "--every-tenant", "--id", "3"], "token create takes no --id"],
      [["list", "--name", "x"], "token list takes no --name"],
      [["revoke", "--id", "3", "--every-tenant"], "token revoke takes no --every-tenant"],
      [[...create, "--tenant", "nobody"], 'unknown tenant "nobody"; the configuration has acme, globex'],
      [[...create, "--every-tenant", "--days", "0"], /^--days must be a whole number from 1 to 3650/],
      [["revoke"], /^--id ID is required/],
      [["revoke", "--id", "x"], /^--id must be a whole number from 1/],
    ] as const)
      await t.rejects(call(args), { name: "UsageError", message }, args.join(" "));
  });

  await t.test("create prints only the token, list never shows it, and revoke ends it", async (t) => {
    const one = await call([...create, "--scope", "run", "--tenant", "acme", "--days", "30"]);
    t.match(one.stdout, /^chgt_[A-Za-z0-9_-]{43}\n$/);
    t.equal(one.stderr, "Token 1 of bi: read, run; acme; 30 days. It is not shown again.\n");
    await call(["create", "--name", "ada", "--scope", "admin", "--every-tenant"]);
    t.equal((await call(["revoke", "--id", "1"])).stderr, "Token 1 is revoked.\n");
    await t.rejects(call(["revoke", "--id", "9"]), { message: "There is no token 9.", exitCode: 1 });
    const { stdout } = await call(["list"]);
    const rows = stdout.replaceAll(/\d{4}-\d\d-\d\d/g, "DAY").replaceAll(/ +/g, " ");
    t.equal(
      rows,
      "ID NAME SCOPES TENANTS STATE EXPIRES USED\n2 ada admin (every) valid DAY never\n1 bi read,run acme revoked DAY never\n",
    );
    t.notOk(stdout.includes(one.stdout.trim()));
  });

  await t.test("create warns if the API does not accept tokens", async (t) => {
    const { stderr } = await call([...create, "--every-tenant"], token, fileOf("none.yaml", "{}"));
    t.match(stderr, /\napi\.auth is none: the API accepts tokens only if it is tokens, oidc or proxy\.\n$/);
  });

  await t.test(
    "serve refuses to open the API to everybody on the network, and check-config reports it",
    async (t) => {
      const open = fileOf("open.yaml", "{ host: 0.0.0.0 }");
      const message = /^api\.host is 0\.0\.0\.0, which is not loopback, and api\.auth is none/;
      await t.rejects(call([], serve, open), { message, exitCode: 2 });
      const { code, stderr } = await call([], checkConfig, open);
      t.equal(code, 1);
      t.match(stderr, /^The configuration is valid, but `serve` refuses it: api\.host is 0\.0\.0\.0/);
    },
  );

  await t.test("serve refuses an unusable certificate, and check-config reports it", async (t) => {
    const { settings, renew } = certificateFiles(t);
    const withTls = fileOf("tls.yaml", JSON.stringify({ tls: settings }));
    t.equal((await call([], checkConfig, withTls)).code, 0);
    renew(renewed);
    renew({ certificate: first.certificate });
    const message = `api.tls.key_file: ${settings.key_file} is not the key of the first certificate in certificate_file`;
    for (const mode of ["both", "worker"])
      await t.rejects(call(["--mode", mode], serve, withTls), { message, exitCode: 2 });
    const { code, stderr } = await call([], checkConfig, withTls);
    t.equal(code, 1);
    t.equal(stderr, `The configuration is valid, but \`serve\` refuses it: ${message}.\n`);
  });
});
