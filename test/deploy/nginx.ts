/** A real nginx. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";

export const NGINX = "/usr/sbin/nginx";

/** Starts nginx with these servers. Its files are in the folder. */
export async function startNginx(t: Test, folder: string, servers: string): Promise<void> {
  const file = join(folder, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join("\n");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  writeFileSync(
    file,
    `daemon off; ${user} pid ${join(folder, "nginx.pid")}; error_log stderr warn; events {}
http { access_log off; ${paths}
${servers} }`,
  );
  const nginx = spawn(NGINX, ["-c", file, "-p", folder], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(nginx, "exit");
  t.teardown(async () => {
    nginx.kill("SIGTERM");
    await ended;
  });
}
