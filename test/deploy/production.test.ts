/**
 * Follows docs/how-to/run-in-production.md and docs/how-to/control-access.md on Debian like a new user: its Postgres
 * and nginx, a worker and an API process from the files of `deploy/`, facts on a ClickHouse over HTTP, and users who
 * sign on in three ways.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Provider } from "oidc-provider";
import t, { type Test } from "tap";
import { parse, stringify } from "yaml";
import { programArguments } from "../../src/common/program.js";
import { projectRoot } from "../../src/common/project.js";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import { first } from "../certificates.js";
import { portOfSocket } from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";
import { needs } from "../programs.js";
import { temporaryFolder, testLogger } from "../stores.js";
import { until } from "../until.js";
import { postgresProgram, startDebianPostgres } from "./debian-postgres.js";
import { deployText, envOf } from "./files.js";
import { NGINX, startNginx } from "./nginx.js";

const HOST = "costs.example.org";
const main = programArguments("../../src/main.js", import.meta.url);

/** Replaces texts of a file of `deploy/` with values of this machine. Each text must exist. */
function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((sofar, [from, to]) => {
    if (!sofar.includes(from)) throw new Error(`not there: ${from}`);
    return sofar.replaceAll(from, to);
  }, text);
}

/** Returns the settings of `api` that control-access.md shows for a kind of sign-on. */
function shownSettings(auth: "oidc" | "proxy"): Record<string, object> {
  const page = readFileSync(join(projectRoot(), "docs", "how-to", "control-access.md"), "utf8");
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text);
  const shown = blocks.find((text) => text.includes(`auth: ${auth}`)) ?? "";
  return parse(shown.replaceAll("acme", "support")).api;
}

type Environment = Readonly<Record<string, string>>;

function chargehouse(args: readonly string[], env: Environment) {
  const child = spawn(process.execPath, [...main, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, ...env },
  });
  return { child, ended: once(child, "exit") };
}

/** Does what `systemctl start chargehouse@NAME` does. */
async function start(t: Test, config: string, env: Environment): Promise<void> {
  const { CHARGEHOUSE_MODE: mode = "", CHARGEHOUSE_PORT: port } = env;
  const { child, ended } = chargehouse(["serve", "--mode", mode, "--config", config], env);
  t.teardown(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  await until(`${mode} responds`, async () => {
    if (child.exitCode !== null) throw new Error(`${mode} ended with ${child.exitCode}`);
    return await fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}

t.test(
  "a production deployment works from start to sign-on",
  { ...needs(NGINX, postgresProgram), timeout: 240_000 },
  async (t) => {
    const folder = temporaryFolder(t);
    const at = (name: string) => join(folder, name);
    mkdirSync(at("tls"));
    writeFileSync(at("tls/fullchain.pem"), first.certificate);
    writeFileSync(at("tls/privkey.pem"), first.key);
    chmodSync(at("tls/privkey.pem"), 0o600);

    const postgres = await startDebianPostgres(t);
    const password = "0123456789abcdef";
    postgres.run("createuser", ["--pwprompt", "chargehouse"], `${password}\n${password}\n`);
    postgres.run("createdb", ["--owner", "chargehouse", "chargehouse"]);
    const engine = createEmbeddedClickHouse({ dataDir: at("facts"), logger: testLogger });
    t.teardown(() => engine.stop());
    const { socketPath, username, password: key } = await engine.endpoint();
    const secrets = {
      ...envOf("systemd/env.example"),
      POSTGRES_PASSWORD: password,
      CLICKHOUSE_URL: `clickhouse://${username}:${key}@127.0.0.1:${await portOfSocket(t, socketPath)}`,
    };
    const config = at("chargehouse.yaml");
    const written = replaced(deployText("systemd/chargehouse.yaml"), { ":5432/": `:${postgres.port}/` });
    writeFileSync(config, written);
    const created = chargehouse(
      ["token", "create", "--config", config, "--name", "ada", "--scope", "admin", "--every-tenant"],
      secrets,
    );
    let token = "";
    for await (const text of created.child.stdout.setEncoding("utf8")) token += text;
    t.strictSame((await created.ended)[0], 0, "the token is made before anything runs");

    const envFor = async (name: string): Promise<Environment> => ({
      ...secrets,
      ...envOf(`systemd/${name}.env`),
      CHARGEHOUSE_PORT: String(await freePort()),
    });
    const [worker, api] = [await envFor("worker"), await envFor("api-1")];
    await start(t, config, worker);
    await start(t, config, api);

    const [plain, port] = [await freePort(), await freePort()];
    const site = replaced(deployText("nginx/chargehouse.conf"), {
      "127.0.0.1:8080": `127.0.0.1:${api.CHARGEHOUSE_PORT}`,
      "127.0.0.1:8081": `127.0.0.1:${await freePort()}`,
      "listen 80;": `listen 127.0.0.1:${plain};`,
      "listen [::]:80;": "",
      "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
      "listen [::]:443 ssl http2;": "",
      "/etc/chargehouse/tls": at("tls"),
    });
    await startNginx(t, at("."), site);

    /** Sends a request to the public name, like curl and browsers. */
    const send = async (
      path: string,
      {
        method = "GET",
        headers = {},
        to = port,
      }: { method?: string; headers?: Environment; to?: number } = {},
    ): Promise<{ status: number | undefined; body: string; headers: IncomingHttpHeaders }> =>
      await new Promise((resolve, reject) => {
        const options = {
          host: "127.0.0.1",
          port: to,
          servername: HOST,
          ca: first.certificate,
          agent: false,
        };
        const sent = request(
          { ...options, path, method, headers: { host: HOST, ...headers } },
          (response) => {
            let body = "";
            response.setEncoding("utf8").on("data", (text) => {
              body += text;
            });
            response.once("end", () =>
              resolve({ status: response.statusCode, body, headers: response.headers }),
            );
          },
        );
        sent.once("error", reject);
        sent.end();
      });
    const bearer = (credentials: string) => ({ headers: { authorization: `Bearer ${credentials.trim()}` } });
    await until(
      "nginx responds",
      async () =>
        await send("/health").then(
          () => true,
          () => false,
        ),
    );

    await t.test("a client reads with a token through nginx", async (t) => {
      t.equal((await send("/api/v1/tenants")).status, 401);
      const { status, body } = await send("/api/v1/tenants", bearer(token));
      t.strictSame(
        [status, JSON.parse(body).map((each: { tenant_name: string }) => each.tenant_name)],
        [200, ["support"]],
      );
      t.equal((await send("/metrics")).status, 404, "the metrics are not passed on");
      const insecure = await fetch(`http://127.0.0.1:${plain}/x`, { redirect: "manual" });
      t.equal(insecure.status, 301);
    });

    await t.test("behind nginx with TLS, the cookie of a session belongs to this host", async (t) => {
      const { headers, status } = await send("/api/v1/session", { ...bearer(token), method: "POST" });
      t.equal(status, 200);
      const [cookie = ""] = headers["set-cookie"] ?? [];
      t.match(
        cookie,
        /^__Host-chargehouse-session=chgs_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      );
      const ofSession = { headers: { cookie: cookie.split(";")[0] ?? "" } };
      t.equal(JSON.parse((await send("/api/v1/me", ofSession)).body).name, "ada");
    });

    await t.test("the worker runs the tenant, and the API shows its costs", async (t) => {
      const status = async () =>
        JSON.parse((await send("/api/v1/tenants/support/pipeline/status", bearer(token))).body);
      await until("the first run is over", async () => (await status()).last_result !== null, 120);
      // 59 days of 24 hours at 12.50, for two identities.
      const sums = await send(
        "/api/v1/tenants/support/chargebacks/aggregate?time_bucket=month",
        bearer(token),
      );
      t.equal(JSON.parse(sums.body).total_amount, "17700");
      const metrics = await (await fetch(`http://127.0.0.1:${worker.CHARGEHOUSE_PORT}/metrics`)).text();
      t.match(metrics, /^chargehouse_runs_total\{tenant="support",status="completed"\} 1$/m);
    });

    /** Starts another API process with another kind of sign-on. */
    const startWith = async (t: Test, settings: object): Promise<number> => {
      const env = await envFor("api-2");
      const file = at(`api-${env.CHARGEHOUSE_PORT}.yaml`);
      const { api: ofFile, ...rest } = parse(written);
      writeFileSync(file, stringify({ ...rest, api: { ...ofFile, ...settings, host: "127.0.0.1" } }));
      await start(t, file, env);
      return Number(env.CHARGEHOUSE_PORT);
    };
    const see = async (path: string, to: number, headers: Environment = {}, method = "GET") => {
      const response = await fetch(`http://127.0.0.1:${to}${path}`, { method, headers });
      return { status: response.status, body: await response.text() };
    };

    await t.test("a client signs on with a JWT of an OpenID Connect issuer", async (t) => {
      const issuer = await startIssuer(t, {
        ada: ["finops"],
        bob: ["team-payments"],
        eve: [],
      });
      const { oidc, ...shown } = shownSettings("oidc");
      const to = await startWith(t, {
        ...shown,
        oidc: { ...oidc, issuer: issuer.url, jwks_url: `${issuer.url}/jwks` },
      });
      const as = async (name: string) => bearer(await issuer.tokenFor(name)).headers;
      const status = async (name: string, path: string, method?: string) =>
        (await see(`/api/v1/${path}`, to, await as(name), method)).status;
      t.equal(await status("ada", "audit"), 200, "the role finops permits everything");
      t.equal(
        await status("bob", "tenants/support/chargebacks"),
        200,
        "the role team-payments permits reads of its tenant",
      );
      t.equal(
        await status("bob", "tenants/support/pipeline/run", "POST"),
        403,
        "the role team-payments permits no runs",
      );
      t.equal(await status("eve", "tenants"), 403, "a user without a role may do nothing");
      t.equal((await see("/api/v1/tenants", to)).status, 401);
      const forged = (await issuer.tokenFor("ada")).replace(/.{10}$/, "A".repeat(10));
      t.equal(
        (await see("/api/v1/tenants", to, bearer(forged).headers)).status,
        401,
        "a signature of another issuer is refused",
      );
      t.equal(
        (await see("/api/v1/audit", to, bearer(token).headers)).status,
        200,
        "programs continue to use tokens",
      );
    });

    await t.test("a user signs on through nginx with a password", async (t) => {
      const { proxy, ...shown } = shownSettings("proxy");
      const to = await startWith(t, { ...shown, proxy: { ...proxy, addresses: ["127.0.0.1"] } });
      const secure = await freePort();
      mkdirSync(at("front"));
      writeFileSync(at("front/people"), "ada:{PLAIN}secret\n");
      const front = replaced(site, {
        [`127.0.0.1:${api.CHARGEHOUSE_PORT}`]: `127.0.0.1:${to}`,
        [`listen 127.0.0.1:${plain};`]: `listen 127.0.0.1:${await freePort()};`,
        [`listen 127.0.0.1:${port} ssl`]: `listen 127.0.0.1:${secure} ssl`,
        "#auth_basic": "auth_basic",
        "#proxy_set_header": "proxy_set_header",
        "/etc/nginx/people": at("front/people"),
      });
      await startNginx(t, at("front"), front);
      const ada = { authorization: `Basic ${Buffer.from("ada:secret").toString("base64")}` };
      await until(
        "nginx responds",
        async () =>
          await send("/", { to: secure }).then(
            () => true,
            () => false,
          ),
      );
      t.equal((await send("/api/v1/me", { to: secure })).status, 401, "nginx requires a password");
      const claims = { "x-forwarded-user": "root", "x-forwarded-groups": "nobody" };
      const { body } = await send("/api/v1/me", { to: secure, headers: { ...ada, ...claims } });
      t.equal(JSON.parse(body).name, "ada", "a name that the client sends is ignored");
      t.equal(
        (await send("/api/v1/audit", { to: secure, headers: ada })).status,
        200,
        "the user has the role from nginx",
      );
    });
  },
);

/** Starts an issuer with these clients by name, each with its roles. */
async function startIssuer(t: Test, roles: Readonly<Record<string, readonly string[]>>) {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = `https://${HOST}`;
  const provider = new Provider(url, {
    clients: Object.keys(roles).map((client_id) => ({
      client_id,
      client_secret: "secret",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          audience: "chargehouse",
          scope: "",
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: (_context, { clientId = "" }) => ({
      email: `${clientId}@example.org`,
      realm_access: { roles: roles[clientId] ?? [] },
    }),
  });
  server.on("request", provider.callback());
  return {
    url,
    async tokenFor(name: string): Promise<string> {
      const response = await fetch(`${url}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from(`${name}:secret`).toString("base64")}` },
        body: new URLSearchParams({ grant_type: "client_credentials", resource }),
      });
      const { access_token } = (await response.json()) as { access_token: string };
      return access_token;
    },
  };
}
