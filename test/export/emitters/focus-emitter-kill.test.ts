/** `kill -9` while a FOCUS dataset is written to a bucket: readers have the old month until the new one is complete. */
import { createHash } from "node:crypto";
import t from "tap";
import type { S3Object } from "../../../src/simulator/s3-server.js";
import { childProcess } from "../../runner/child.js";
import { shortTenants } from "../../runner/runs.js";
import { temporaryFolder } from "../../stores.js";
import { s3Server } from "../../upstream/s3-server.js";
import type { EmittingInput } from "./emitting-process.js";

const key = { id: "id", secret: "a secret key" };

t.test("after kill -9 while a month is written, readers have a complete month", async (t) => {
  const objects = new Map<string, S3Object>();
  /** The request at which the worker is killed. */
  let fatal: { readonly name: RegExp; readonly method: string } | undefined;
  let die = () => {};
  const s3 = await s3Server(t, {
    bucket: "costs",
    objects,
    key,
    instead: (request) => {
      if (fatal === undefined || request.method !== fatal.method) return false;
      if (!fatal.name.test(request.url ?? "")) return false;
      die();
      return true;
    },
  });
  const folder = temporaryFolder(t);
  const yaml = `data_dir: ${folder}/data\n${shortTenants(["acme"])}`;
  const emit = async (cost: string, killedAt?: typeof fatal) => {
    const kills = { count: 0 };
    fatal = killedAt;
    const emitter: EmittingInput["emitter"] = {
      type: "focus",
      params: {
        location: "s3://costs/teams",
        format: "parquet",
        focus_version: "1.4",
        provisional: "mark",
        s3: {
          region: "us-east-1",
          endpoint: s3.endpoint,
          credentials: "keys",
          access_key_id: key.id,
          secret_access_key: key.secret,
        },
      },
    };
    const child = childProcess(t, "../export/emitters/emitting-process.js", { yaml, folder, emitter, cost });
    die = () => {
      kills.count += 1;
      child.kill("SIGKILL");
    };
    const output = await child.message();
    await child.exited;
    return { output, killed: kills.count > 0 };
  };
  /** Costs of the runs that a reader accepts: the manifest exists, and all its files match it. */
  const whole = () =>
    [...objects].flatMap(([name, { body }]) => {
      if (!name.endsWith("/manifest.json")) return [];
      const { blobs, totals } = JSON.parse(body.toString());
      const isWhole = blobs.every(({ blobName, sha256 }: { blobName: string; sha256: string }) => {
        const part = objects.get(`teams/${blobName}`)?.body;
        return part !== undefined && createHash("sha256").update(part).digest("hex") === sha256;
      });
      return isWhole ? totals.map(({ BilledCost }: { BilledCost: string }) => BilledCost) : ["torn"];
    });
  const others = () => [...objects.keys()].filter((name) => name.includes("part_")).length;

  t.strictSame(await emit("10"), { output: "[]", killed: false });
  t.strictSame([whole(), others()], [["10"], 1]);

  const part = await emit("20", { name: /part_0001/, method: "PUT" });
  t.strictSame(part, { output: undefined, killed: true }, "killed at the first file");
  t.strictSame([whole(), others()], [["10"], 1]);

  const manifest = await emit("30", { name: /manifest/, method: "PUT" });
  t.strictSame(manifest, { output: undefined, killed: true }, "killed at the manifest");
  t.strictSame([whole(), others()], [["10"], 2], "the new file belongs to no complete run");

  const removal = await emit("40", { name: /manifest/, method: "DELETE" });
  t.strictSame(removal, { output: undefined, killed: true }, "killed before the old run is removed");
  t.strictSame(whole().sort(), ["10", "40"], "both runs are complete, and the newest counts");

  t.strictSame(await emit("40"), { output: "[]", killed: false });
  t.strictSame([whole(), others()], [["40"], 1], "nothing of the other runs remains");
});
