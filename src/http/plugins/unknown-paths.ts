/** Responds with 404 to an unknown path, before the body is read. */
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { problemPath, sendProblem } from "../problem.js";

export const unknownPaths = fp<Pick<HttpContext, "mode">>(
  async (app, { mode }) => {
    const notFoundDetail = (path: string) =>
      mode === "worker"
        ? "A worker has /health, /metrics and /api/v1/readiness only."
        : apiPathNotFound(path);
    // Missing files under /docs.
    app.setNotFoundHandler((request, reply) =>
      sendProblem(new ApiError("path_not_found", notFoundDetail(problemPath(request.url))), request, reply),
    );
    app.addHook("onRequest", async (request) => {
      // The CORS plugin adds the route `*`.
      if (request.is404 || request.routeOptions.url === "*")
        throw new ApiError("path_not_found", notFoundDetail(problemPath(request.url)));
    });
  },
  { name: "unknown-paths" },
);

function apiPathNotFound(path: string): string {
  if (path.length > 1 && path.endsWith("/"))
    return "The API has no such path. Paths do not end with a slash.";
  return "The API has no such path. GET /openapi.json describes all paths.";
}
