/** `chargehouse simulate` starts the simulated upstreams, and writes a configuration for them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import t from "tap";
import { parse } from "yaml";
import { UsageError } from "../../src/cli/command.js";
import { simulate } from "../../src/cli/simulate.js";
import { loadConfig } from "../../src/config/load.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { apiFaultKinds, readApiFault } from "../../src/simulator/confluent/api-fault-text.js";
import { holds } from "../holds.js";
import { temporaryFolder } from "../stores.js";

function collecting(onText: (text: string) => void): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      onText(String(chunk));
      done();
    },
  });
}

/** Runs the command on free ports, and waits until it is ready. */
async function listening(args: readonly string[]) {
  const abort = new AbortController();
  let ready = () => {};
  const readied = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const stdout = collecting((written) => {
    if (written.includes("Ctrl-C")) ready();
  });
  const io = { stdout, stderr: stdout, env: {}, signal: abort.signal };
  const ended = simulate.run([...args, "--port", "0"], io);
  await Promise.race([readied, ended]);
  return { abort, ended };
}

t.test("the command writes a valid configuration, serves its upstreams, and stops on a signal", async (t) => {
  const file = join(temporaryFolder(t), "simulated.yaml");
  const flags = [
    "--size",
    "tiny",
    "--lines",
    "100",
    "--identities",
    "25",
    "--fault",
    "status,status=500,match=/iam/",
  ];
  const { abort, ended } = await listening([...flags, "--write-config", file]);
  const loaded = loadConfig(readFileSync(file, "utf8"), { file, env: {}, ecosystems });
  t.ok(loaded.ok, loaded.ok ? "valid" : JSON.stringify(loaded.problems));
  const kinds = loaded.ok ? [...loaded.config.tenants.values()].map(({ ecosystem }) => ecosystem) : [];
  t.strictSame(kinds.sort(), [
    "confluent_cloud",
    "focus",
    "focus",
    "generic_metrics_only",
    "self_managed_kafka",
  ]);
  const [{ plugin_settings: settings }] = Object.values(parse(readFileSync(file, "utf8")).tenants) as [
    { plugin_settings: { ccloud_api: { base_url: string }; metrics: { url: string } } },
  ];
  const headers = {
    authorization: `Basic ${Buffer.from("SIMULATED:simulated-secret").toString("base64")}`,
  };
  const status = async (path: string) =>
    (await fetch(`${settings.ccloud_api.base_url}${path}`, { headers })).status;
  t.equal(await status("/org/v2/environments"), 200);
  t.equal(await status("/iam/v2/users"), 500);
  t.equal((await fetch(`${settings.metrics.url}/-/ready`)).status, 200);
  abort.abort();
  t.equal(await ended, 0);
});

t.test("invalid flags are usage errors", async (t) => {
  const io = {
    stdout: collecting(() => undefined),
    stderr: collecting(() => undefined),
    env: {},
    signal: AbortSignal.abort(),
  };
  for (const args of [
    ["--size", "enormous"],
    ["--days", "0"],
    ["--lines", "many"],
    ["--rate-limit", "5"],
    ["--malformed", "sideways"],
    ["--fault", "status,status=200"],
    ["--fault", "gremlins"],
  ]) {
    await t.rejects(simulate.run(args, io), UsageError, args.join(" "));
  }
});

t.test("faults are parsed from text", async (t) => {
  for (const kind of apiFaultKinds) {
    holds(t, readApiFault(`${kind},match=/iam/,times=2,after=1`), {
      fault: { kind, match: "/iam/", times: 2, after: 1 },
    });
  }
  holds(t, readApiFault("rate_limited,header=retry-after-date,seconds=4"), {
    fault: { header: "retry-after-date", seconds: 4 },
  });
  holds(t, readApiFault("reset,midway=true"), { fault: { midway: true } });
  for (const text of [
    "stall,times=often",
    "latency,ms=x",
    "rate_limited,header=x",
    "rate_limited,seconds=x",
    "stall,ms=1",
  ]) {
    holds(t, readApiFault(text), { problem: String }, text);
  }
});
