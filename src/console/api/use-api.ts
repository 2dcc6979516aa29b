/** Reads of the API. */
import { shared } from "../state/under-way.js";
import { type Data, useLoaded } from "../state/use-data.js";
import { api, bodyOf } from "./client.js";
import type { paths } from "./schema.js";

/** Paths whose responses are JSON. */
type Path = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: Json } } } } ? P : never;
}[keyof paths];
interface Json<T = unknown> {
  readonly "application/json": T;
}

type Operation<P extends Path> = paths[P] extends { get: infer Get } ? Get : never;
/** Values for the names in the path, and the query. */
type Parameters<P extends Path> =
  Operation<P> extends { parameters: infer All } ? Pick<All, keyof All & ("path" | "query")> : never;
type Response<P extends Path> =
  Operation<P> extends { responses: { 200: { content: Json<infer T> } } } ? T : never;

/** Sends a GET request, or joins the same one that is under way, and returns the body of its response. */
export async function get<P extends Path>(
  path: P,
  params: Parameters<P>,
  signal: AbortSignal,
): Promise<Response<P>> {
  const send = (whole: AbortSignal) =>
    bodyOf<Response<P>>(api.GET(path as never, { params, signal: whole } as never));
  return await shared(JSON.stringify([path, params]), send, signal);
}

const ask = <P extends Path>([path, params]: readonly [P, Parameters<P>], signal: AbortSignal) =>
  get(path, params, signal);

/**
 * Loads the response of a GET request, and loads it again when the path or a parameter changes.
 * @param params undefined while they are not known yet: nothing is sent
 */
export function useApi<P extends Path>(path: P, params: Parameters<P> | undefined): Data<Response<P>> {
  const request = params === undefined ? undefined : ([path, params] as const);
  return useLoaded<readonly [P, Parameters<P>], Response<P>>(ask, request);
}
