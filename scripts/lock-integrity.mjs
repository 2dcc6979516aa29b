// Writes the registry's digests into package-lock.json for packages of other platforms that were locked without a digest.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
let missing = 0;
for (const [folder, locked] of Object.entries(lock.packages)) {
  if (folder === "" || locked.integrity !== undefined) continue;
  const name = `${folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)}@${locked.version}`;
  const view = spawnSync("npm", ["view", name, "dist.integrity"], { encoding: "utf8" });
  const digest = view.stdout.trim();
  if (view.status === 0 && digest.startsWith("sha512-")) {
    lock.packages[folder] = { version: locked.version, integrity: digest, ...locked };
    console.log(`${name}: ${digest}`);
  } else {
    missing += 1;
    console.log(`${name}: this registry does not have it`);
  }
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
process.exit(missing === 0 ? 0 : 1);
