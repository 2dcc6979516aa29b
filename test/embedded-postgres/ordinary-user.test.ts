import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import { programArguments } from "../../src/common/program.js";
import { nativeWithoutLinks, startTestPostgres } from "./temporary.js";

const SCRIPT = programArguments("./ordinary-user-process.js", import.meta.url);
const NOBODY = 65534;
const asRoot = process.getuid?.() === 0;
const uid = asRoot ? NOBODY : (process.getuid?.() ?? -1);

t.test(
  "an ordinary user runs the server under their own account, and root runs it as that user",
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "chargehouse-open-"));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    if (asRoot) chownSync(folder, NOBODY, NOBODY);
    // Copies the programs to where this user can read them, because only root may be able to enter the folder of the
    // installation. The copy has no library links (`npm ci --ignore-scripts`), and the user cannot create them there.
    // So the user needs a copy in the data directory.
    const installation = mkdtempSync(join(tmpdir(), "chargehouse-native-"));
    t.teardown(() => rmSync(installation, { recursive: true, force: true }));
    chmodSync(installation, 0o755);
    const native = nativeWithoutLinks(installation);
    chmodSync(join(native, "lib"), 0o555);
    t.teardown(() => chmodSync(join(native, "lib"), 0o755));

    const dataDir = join(folder, "data");
    const runAsOrdinaryUser = async () => {
      const script = [...SCRIPT, dataDir, native, String(uid)];
      const child = spawn(process.execPath, script, { stdio: ["ignore", "pipe", "inherit"] });
      const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
      t.strictSame(JSON.parse(output), { uid, server: uid, rows: [{ one: 1 }] });
    };
    await runAsOrdinaryUser();
    t.equal(statSync(join(dataDir, "postgres")).uid, uid);
    t.ok(existsSync(join(dataDir, "postgres.programs")));

    const postgres = await startTestPostgres(t, { dataDir, nativeDir: native });
    if (process.platform === "linux") t.equal(statSync(`/proc/${postgres.pid}`).uid, uid);
    await postgres.stop();
    await runAsOrdinaryUser();
  },
);
