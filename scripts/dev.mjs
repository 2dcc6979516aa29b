/**
 * `npm run dev`: runs the service from its sources, with simulated upstreams, and restarts it when a source changes. The
 * console is bundled in memory, and its pages reload when it changes. The data stay in `data/dev` between starts.
 */
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";
import { context } from "esbuild";
import { bundleOptions, pageWith, source } from "./console-bundle.mjs";

const host = "127.0.0.1";
const ports = { page: 8080, service: 8081, simulator: 8090 };
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "data/dev");
const tsx = join(root, "node_modules/.bin/tsx");
const main = join(root, "src/main.ts");

function run(...args) {
  const child = spawn(tsx, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  child.once("exit", (code) => process.exit(code ?? 1));
  process.once("exit", () => child.kill());
  return child;
}

async function startSimulator(configFile) {
  const simulator = run(main, "simulate", "--port", String(ports.simulator), "--write-config", configFile);
  await new Promise((resolve) => {
    simulator.stdout.on("data", (text) => String(text).includes(configFile) && resolve());
  });
}

/** Returns the port of esbuild's server, which bundles on request and has events of changes at `/esbuild`. */
async function serveConsole() {
  const served = join(folder, "console");
  mkdirSync(join(served, "assets"), { recursive: true });
  copyFileSync(join(source, "icon.svg"), join(served, "assets/icon.svg"));
  const reload = `<script>new EventSource("/esbuild").addEventListener("change", () => location.reload());</script>`;
  const index = join(served, "index.html");
  writeFileSync(index, pageWith({ main: "main.js", style: "style.css", icon: "icon.svg", head: reload }));
  const bundle = await context({ ...bundleOptions, outdir: join(served, "assets"), sourcemap: "inline" });
  await bundle.watch();
  const { port } = await bundle.serve({ host, servedir: served, fallback: index });
  return port;
}

mkdirSync(folder, { recursive: true });
const simulated = join(folder, "simulated.yaml");
await startSimulator(simulated);
const config = join(folder, "chargehouse.yaml");
const settings = { data_dir: folder, api: { port: ports.service }, logging: { format: "pretty" } };
const lines = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
writeFileSync(config, lines.join("") + readFileSync(simulated, "utf8"));
run("watch", "--clear-screen=false", main, "serve", "--config", config).stdout.pipe(process.stdout);

const bundler = await serveConsole();
const ofService = /^\/(api|docs|openapi\.json|health|metrics)\b/;
createServer((received, response) => {
  const port = ofService.test(received.url) ? ports.service : bundler;
  const { url: path, method, headers } = received;
  const forwarded = request({ host, port, path, method, headers }, (original) => {
    response.writeHead(original.statusCode, original.headers);
    pipeline(original, response, () => undefined);
  });
  forwarded.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end("The service is starting. Its log says when it listens.\n");
  });
  response.once("close", () => forwarded.destroy());
  received.pipe(forwarded);
}).listen(ports.page, host, () => {
  console.log(`The console is at http://${host}:${ports.page}, and the API beside it. Ctrl-C stops all.`);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
