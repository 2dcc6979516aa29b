import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { projectRoot } from "../../src/common/project.js";

/** Returns the metadata of a package, as far as npm requests it for a vulnerable one. */
function packument(name: string): unknown {
  return { name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": { name, version: "1.0.0" } } };
}

/** Runs `.ci/audit.mjs` with a registry that returns this response to the request for advisories. */
async function audit(
  t: Test,
  status: number,
  advisories: unknown,
): Promise<{ code: number; output: string }> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const isAdvisoryRequest = request.method === "POST";
      const body = isAdvisoryRequest
        ? advisories
        : packument(decodeURIComponent((request.url ?? "").slice(1)));
      response
        .writeHead(isAdvisoryRequest ? status : 200, { "content-type": "application/json" })
        .end(JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => server.close());
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(projectRoot(), ".ci", "audit.mjs")],
      { cwd: projectRoot(), env: { ...process.env, npm_config_registry: registry } },
      (_, stdout) => resolve({ code: child.exitCode ?? -1, output: stdout }),
    );
  });
}

t.test("a registry that refuses the request does not fail the build, which reports it", async (t) => {
  const { code, output } = await audit(t, 405, {});
  t.equal(code, 0);
  t.match(output, /^NOT AUDITED: .*405/);
});

t.test("an advisory for a package that a user installs fails the build", async (t) => {
  const advisory = {
    id: 1,
    title: "an example",
    url: "https://example.com/1",
    severity: "high",
    vulnerable_versions: "*",
  };
  const { code, output } = await audit(t, 200, { pg: [advisory] });
  t.equal(code, 1);
  t.match(output, /^high: pg \*$/m);
});

t.test("a build without advisories passes", async (t) => {
  t.strictSame(await audit(t, 200, {}), {
    code: 0,
    output: "0 vulnerable packages among those a user installs\n",
  });
});
