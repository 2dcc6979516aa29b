/**
 * Serves the console: its built files, whose names change with their content, and one HTML page for all of its paths.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyPluginAsync, FastifyReply } from "fastify";
import { projectRoot } from "../../common/project.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { consolePolicy } from "./security-headers.js";

const PAGE_HEADERS = { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" } as const;

/** The output folder of `npm run build`. */
const builtConsole = () => join(projectRoot(), "dist/console");

export const consolePages: FastifyPluginAsync<HttpContext> = async (app, { config, consoleFolder }) => {
  const folder = consoleFolder ?? builtConsole();
  if (!config.api.console) return;
  const page = pageOf(folder);
  const pageConfig = { scope: "public", heavy: false, etag: false, showsTags: false, quiet: true } as const;
  const send = async (_request: unknown, reply: FastifyReply) => {
    if (page === undefined)
      throw new ApiError(
        "path_not_found",
        "The console is not built: run `npm run build`. The API is under /api/v1.",
      );
    return reply.headers(PAGE_HEADERS).send(page);
  };
  for (const url of ["/", "/access", "/audit", "/tenants/:name/:view"])
    app.get(
      url,
      { config: pageConfig, helmet: { contentSecurityPolicy: consolePolicy }, schema: { hide: true } },
      send,
    );
  if (page === undefined) return;
  await app.register(fastifyStatic, {
    root: join(folder, "assets"),
    prefix: "/assets/",
    // Registers one route for each existing file.
    wildcard: false,
    globIgnore: ["**/*.gz", "**/*.br"],
    preCompressed: true,
    decorateReply: false,
    immutable: true,
    maxAge: "365d",
    cacheControl: true,
    schemaHide: true,
  });
};

function pageOf(folder: string): string | undefined {
  const file = join(folder, "index.html");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
