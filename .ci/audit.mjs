// npm audit of what a user installs. A registry that serves no advisories is reported and does not fail the build; all else does.
import { spawnSync } from "node:child_process";

const ADVISORIES = "/-/npm/v1/security/advisories/bulk";
const npm = spawnSync("npm", ["audit", "--omit=dev", "--json", "--fetch-retries=1"], {
  encoding: "utf8",
  timeout: 120_000,
});
const report = read(npm.stdout);
if (report?.auditReportVersion === undefined) {
  const cause = report?.message || report?.error?.summary || npm.error?.message || npm.stderr.trim();
  console.log(`NOT AUDITED: ${cause || "npm audit printed nothing"}`);
  process.exit(report?.message?.includes(ADVISORIES) ? 0 : 1);
}
const found = Object.values(report.vulnerabilities);
for (const { name, severity, range } of found) console.log(`${severity}: ${name} ${range}`);
console.log(`${found.length} vulnerable packages among those a user installs`);
process.exit(found.length === 0 ? 0 : 1);

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
