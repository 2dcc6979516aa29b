/** Configurations, compose files, the Dockerfile and the systemd unit of `deploy/`. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { projectRoot } from "../../src/common/project.js";
import { parseDotEnv } from "../../src/config/reader/dotenv.js";
import { first } from "../certificates.js";
import { needs } from "../programs.js";
import { temporaryFolder } from "../stores.js";
import { deployFiles, deployFolder, deployText, envOf, loaded, yamlOf } from "./files.js";

const configs = deployFiles.filter(
  (file) => file.endsWith("/chargehouse.yaml") && !file.startsWith("grafana/"),
);

t.test("every configuration loads with its documented variables", async (t) => {
  t.strictSame(configs, ["compose/chargehouse.yaml", "systemd/chargehouse.yaml"]);
  for (const file of configs) {
    const beside = file.replace("chargehouse.yaml", "env.example");
    loaded(t, deployText(file), file, envOf(beside));
  }
});

interface Service {
  readonly image: string;
  readonly command?: string | readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
}

function checkServices(t: Test, { services, volumes = {} }: Compose): void {
  for (const [name, service] of Object.entries(services)) {
    if (service.image !== "chargehouse") t.match(service.image, /:v?\d/, name);
    for (const port of service.ports ?? []) t.match(port, /^127\.0\.0\.1:/, name);
    for (const dependency of Object.keys(service.depends_on ?? {})) t.ok(dependency in services, dependency);
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      const known = source.startsWith(".")
        ? existsSync(join(deployFolder, "compose", source))
        : source in volumes;
      t.ok(known, volume);
    }
  }
}

t.test(
  "compose, a cluster: pinned images, ports on loopback, files that exist; hosts that know each other",
  async (t) => {
    const text = deployText("compose/cluster.yaml");
    const compose = yamlOf<Compose>(text);
    checkServices(t, compose);
    const required = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    t.strictSame([...new Set(required)], ["CLICKHOUSE_PASSWORD"]);
    const config = deployText("compose/cluster/servers.xml");
    const hosts = [...config.matchAll(/<host>([\w-]+)<\/host>/g)].map(([, host]) => host);
    t.strictSame(hosts.sort(), Object.keys(compose.services).sort());
    const script = readFileSync(join(projectRoot(), "scripts", "test-cluster.sh"), "utf8");
    const files = [...script.matchAll(/test\/\S+\.test\.ts/g)].map(([file]) => file);
    t.ok(files.length > 10);
    for (const file of files) t.ok(existsSync(join(projectRoot(), file)), file);
  },
);

t.test("compose: pinned images, ports on loopback, files that exist, no rights", async (t) => {
  const text = deployText("compose/compose.yaml");
  const compose = yamlOf<Compose>(text);
  const { services } = compose;
  const ours = Object.entries(services).filter(([, { image }]) => image === "chargehouse");
  t.strictSame(ours.map(([name]) => name).sort(), ["api", "migrate", "worker"]);
  for (const [name, { read_only, cap_drop, security_opt }] of ours) {
    t.strictSame(
      { read_only, cap_drop, security_opt },
      { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
      name,
    );
  }
  checkServices(t, compose);
  const required = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
  t.strictSame([...new Set(required)].sort(), Object.keys(envOf("compose/env.example")).sort());
});

t.test("Prometheus uses host names that the configuration of the compose file allows", async (t) => {
  const { api } = loaded(
    t,
    deployText("compose/chargehouse.yaml"),
    "compose/chargehouse.yaml",
    envOf("compose/env.example"),
  );
  const { scrape_configs } = yamlOf<{
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  }>(deployText("compose/prometheus.yaml"));
  const targets = scrape_configs
    .filter(({ job_name }) => job_name === "chargehouse")
    .flatMap(({ static_configs }) => static_configs.flatMap(({ targets }) => targets));
  t.strictSame(targets, [`api:${api.port}`, `worker:${api.worker_port}`]);
  t.strictSame(api.allowed_hosts, ["api", "worker"]);
});

t.test(
  "Dockerfile: not root, a health check, and everything that it copies is sent to the builder",
  async (t) => {
    const lines = deployText("docker/Dockerfile")
      .replaceAll("\\\n", " ")
      .split("\n")
      .filter((line) => /^[A-Z]+ /.test(line));
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
    t.ok(last.includes("USER 1000:1000"));
    t.ok(
      last.findIndex((line) => line.startsWith("USER ")) >
        last.findLastIndex((line) => line.startsWith("RUN ")),
    );
    t.match(
      last.find((line) => line.startsWith("HEALTHCHECK ")) ?? "",
      /127\.0\.0\.1', port: 8080, path: '\/health'/,
    );
    t.notOk(lines.some((line) => /^ADD |:latest| sudo /.test(line)));
    t.ok(lines.filter((line) => line.startsWith("FROM ")).every((line) => line.includes("{NODE_IMAGE}")));
    const ignore = deployText("docker/Dockerfile.dockerignore").split("\n");
    t.equal(ignore[1], "*", "files are only sent if they are named");
    const sent = ignore.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    for (const each of sent) t.ok(existsSync(join(projectRoot(), each)), each);
    for (const each of ["package.json", "package-lock.json", "LICENSE", "migrations", "src"])
      t.ok(sent.includes(each), each);
  },
);

t.test("the health check of the image works with and without TLS", async (t) => {
  const words = /^ +CMD (\[.*\])$/m.exec(deployText("docker/Dockerfile"))?.[1] ?? "[]";
  const [program = "", ...args]: string[] = JSON.parse(words);
  t.equal(program, "node");
  const exitCode = async (port: number) => {
    const child = spawn(
      process.execPath,
      args.map((each) => each.replace("8080", String(port))),
      { stdio: "inherit" },
    );
    return (await once(child, "exit"))[0];
  };
  const respond: RequestListener = (request, response) =>
    void response.writeHead(request.url === "/health" && isWell ? 200 : 503).end("{}");
  let isWell = true;
  const secure = createSecureServer({ cert: first.certificate, key: first.key }, respond);
  for (const server of [createServer(respond), secure]) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    isWell = true;
    t.equal(await exitCode(port), 0);
    isWell = false;
    t.equal(await exitCode(port), 1);
    await new Promise((resolve) => server.close(resolve));
    t.equal(await exitCode(port), 1, "no process listens");
  }
});

t.test("systemd accepts the unit", needs("systemd-analyze"), async (t) => {
  const unit = deployText("systemd/chargehouse@.service");
  t.match(unit, /^ExecStart=chargehouse serve --mode \$\{CHARGEHOUSE_MODE\} --config \S+$/m);
  const folder = temporaryFolder(t);
  const file = join(folder, "chargehouse@.service");
  const verify = (text: string) => {
    writeFileSync(file, text);
    try {
      const args = ["-c", `systemd-analyze verify --man=no "${file.replace("@", "@api-1")}" 2>&1`];
      writeFileSync(file.replace("@", "@api-1"), text);
      return execFileSync("sh", args, { encoding: "utf8" });
    } catch (error) {
      return String((error as { stdout: string }).stdout);
    }
  };
  // The program is not installed on the test machine.
  const runnable = unit.replace("ExecStart=chargehouse", `ExecStart=${process.execPath}`);
  t.notMatch(verify(runnable), /chargehouse@/);
  t.match(verify(runnable.replace("ProtectHome=yes", "ProtectHomes=yes")), /ProtectHomes/);
});

t.test("nginx passes on the host, sends no request twice, and hides the metrics", async (t) => {
  const text = deployText("nginx/chargehouse.conf");
  for (const line of [
    "proxy_set_header Host $host;",
    "proxy_next_upstream error timeout;",
    "proxy_buffering off;",
  ])
    t.ok(text.includes(line), line);
  const servers = text.match(/^ +server 127\.0\.0\.1:.*$/gm) ?? [];
  t.strictSame(
    servers.map((line) => line.trim()),
    ["server 127.0.0.1:8080 max_fails=0;", "server 127.0.0.1:8081 max_fails=0;"],
    "none is left out while the other one restarts",
  );
  t.match(text, /location = \/metrics \{\s+return 404;/);
});

t.test("the environments of systemd processes have a mode and a port", async (t) => {
  for (const [name, mode, port] of [
    ["api-1", "api", "8080"],
    ["api-2", "api", "8081"],
    ["worker", "worker", "8082"],
  ] as const) {
    const { values } = parseDotEnv(deployText(`systemd/${name}.env`), name);
    t.strictSame({ ...values }, { CHARGEHOUSE_MODE: mode, CHARGEHOUSE_PORT: port });
  }
});
